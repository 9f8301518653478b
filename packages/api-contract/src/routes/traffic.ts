/** Bytes and rates: of the node, by protocol and by peer. */
import * as z from 'zod'
import { lookupName } from '../names.ts'
import { defineRoute } from '../route.ts'
import { statsMapView, statsView } from '../views/traffic.ts'
import { json } from './answers.ts'

export const trafficRoutes = {
  getTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics',
    tag: 'traffic',
    summary: 'Traffic of the whole node',
    answer: json(statsView, 'Bytes and bytes per second.'),
    errors: ['metrics.no_reporter'],
  }),
  listProtocolTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/protocol',
    tag: 'traffic',
    summary: 'Traffic by protocol id',
    answer: json(statsMapView, 'Stats by protocol id.'),
    errors: ['metrics.no_reporter'],
  }),
  getProtocolTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/protocol/*protocol',
    tag: 'traffic',
    summary: 'Traffic of one protocol; zeros when there was none',
    params: z.object({ protocol: lookupName.meta({ example: '/meshsub/1.2.0' }) }),
    answer: json(statsView, 'Stats of the protocol.'),
    errors: ['metrics.no_reporter'],
  }),
  listPeerTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/peer',
    tag: 'traffic',
    summary: 'Traffic by peer id',
    answer: json(statsMapView, 'Stats by peer id.'),
    errors: ['metrics.no_reporter'],
  }),
  getPeerTraffic: defineRoute({
    method: 'GET',
    path: '/api/metrics/peer/:peer',
    tag: 'traffic',
    summary: 'Traffic with one peer; zeros when there was none',
    params: z.object({ peer: lookupName }),
    answer: json(statsView, 'Stats of the peer.'),
    errors: ['metrics.no_reporter'],
  }),
} as const
