/** This node itself: events, versions, health and metrics. */
import * as z from 'zod'
import { eventTypeList, historyCount } from '../events.ts'
import { later } from '../later.ts'
import { defineRoute } from '../route.ts'
import { healthView, nodeFactsView, versionView } from '../views/node.ts'
import { json } from './answers.ts'

export const nodeRoutes = {
  watchEvents: defineRoute({
    method: 'GET',
    path: '/api/events',
    tag: 'node',
    summary: 'What happens, as server-sent events; Last-Event-ID continues where a reader stopped',
    query: z.object({ types: eventTypeList.optional(), last: historyCount.optional() }),
    answer: { kind: 'events', description: 'A stream of events.' },
    errors: ['events.too_many_readers'],
  }),
  getNode: defineRoute({
    method: 'GET',
    path: '/api/node',
    tag: 'node',
    summary: 'Who this node is, in which network, where it listens and since when it runs',
    answer: json(nodeFactsView, 'This node.'),
    errors: [],
  }),
  getVersion: defineRoute({
    method: 'GET',
    path: '/api/version',
    tag: 'node',
    summary: 'Versions of the node, its API and its protocols',
    answer: json(versionView, 'Within one value of Api there are only additions.'),
    errors: [],
  }),
  getHealth: defineRoute({
    method: 'GET',
    path: '/api/health',
    tag: 'node',
    summary: 'What is wrong, with hints',
    answer: json(healthView, 'Problems, the worst first.'),
    errors: [],
  }),
  getOpenApi: defineRoute({
    method: 'GET',
    path: '/api/openapi.json',
    tag: 'node',
    summary: 'This document',
    answer: json(
      later(() => z.looseObject({ openapi: z.string() })),
      'OpenAPI 3.1.',
    ),
    errors: [],
  }),
  getLiveness: defineRoute({
    method: 'GET',
    path: '/healthz',
    level: 'open',
    tag: 'node',
    summary: 'Does the process answer?',
    answer: { kind: 'text', description: '`ok`' },
    errors: [],
  }),
  getReadiness: defineRoute({
    method: 'GET',
    path: '/readyz',
    level: 'open',
    tag: 'node',
    summary: 'Has the node joined its network?',
    answer: { kind: 'text', description: '`ok`' },
    errors: ['node.not_ready'],
  }),
  getMetrics: defineRoute({
    method: 'GET',
    path: '/metrics',
    tag: 'node',
    summary: 'Counters and gauges in the Prometheus text format',
    answer: { kind: 'text', description: 'Prometheus text.' },
    errors: [],
  }),
} as const
