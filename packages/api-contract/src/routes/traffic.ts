/** Bytes and rates: of the node, by protocol and by peer. */
import * as z from 'zod'
import { lookupName, wholeNumber } from '../names.ts'
import { routesOf } from '../route.ts'
import { statsMapView, statsView } from '../views/traffic.ts'
import { trafficHistoryView } from '../views/traffic-history.ts'
import { json } from './answers.ts'

const route = routesOf('traffic')

export const trafficRoutes = {
  getTrafficHistory: route('GET /api/metrics/history', {
    summary: 'What went over the network in the last hour, in steps of 10 s, by peer and by protocol',
    query: z.object({
      last: wholeNumber
        .optional()
        .meta({ description: 'Only the last so many steps; all without it.', example: 6 }),
    }),
    answer: json(trafficHistoryView, 'Rates of each step.'),
    errors: ['metrics.no_reporter'],
  }),
  getTraffic: route('GET /api/metrics', {
    summary: 'Traffic of the whole node',
    answer: json(statsView, 'Bytes and bytes per second.'),
    errors: ['metrics.no_reporter'],
  }),
  listProtocolTraffic: route('GET /api/metrics/protocol', {
    summary: 'Traffic by protocol id',
    answer: json(statsMapView, 'Stats by protocol id.'),
    errors: ['metrics.no_reporter'],
  }),
  getProtocolTraffic: route('GET /api/metrics/protocol/*protocol', {
    summary: 'Traffic of one protocol; zeros when there was none',
    params: z.object({ protocol: lookupName.meta({ example: '/meshsub/1.2.0' }) }),
    answer: json(statsView, 'Stats of the protocol.'),
    errors: ['metrics.no_reporter'],
  }),
  listPeerTraffic: route('GET /api/metrics/peer', {
    summary: 'Traffic by peer id',
    answer: json(statsMapView, 'Stats by peer id.'),
    errors: ['metrics.no_reporter'],
  }),
  getPeerTraffic: route('GET /api/metrics/peer/:peer', {
    summary: 'Traffic with one peer; zeros when there was none',
    params: z.object({ peer: lookupName }),
    answer: json(statsView, 'Stats of the peer.'),
    errors: ['metrics.no_reporter'],
  }),
} as const
