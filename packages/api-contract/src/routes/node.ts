/** This node itself: events, versions, health and metrics. */
import * as z from 'zod'
import { eventTypeList, historyCount } from '../events.ts'
import { later } from '../later.ts'
import { MAX_LOG_LEVEL_CHARACTERS } from '../limits.ts'
import { routesOf } from '../route.ts'
import { nodeFactsView, reachabilityView } from '../views/node.ts'
import { versionView } from '../views/version.ts'
import { wholeNumber } from '../names.ts'
import { checkView, settingView } from '../views/doctor.ts'
import { healthView, logLevelView } from '../views/health.ts'
import { logLinesView } from '../views/log.ts'
import { json, list } from './answers.ts'

const route = routesOf('node')

export const nodeRoutes = {
  watchEvents: route('GET /api/events', {
    summary: 'What happens, as server-sent events; Last-Event-ID continues where a reader stopped',
    query: z.object({ types: eventTypeList.optional(), last: historyCount.optional() }),
    answer: { kind: 'events', description: 'A stream of events.' },
    errors: ['events.too_many_readers'],
  }),
  getNode: route('GET /api/node', {
    summary: 'Who this node is, in which network, where it listens and since when it runs',
    answer: json(nodeFactsView, 'This node.'),
    errors: [],
  }),
  getVersion: route('GET /api/version', {
    summary: 'Versions of the node, its API and its protocols',
    answer: json(versionView, 'Within one value of Api there are only additions.'),
    errors: [],
  }),
  getHealth: route('GET /api/health', {
    summary: 'What is wrong, with hints',
    answer: json(healthView, 'Problems, the worst first.'),
    errors: [],
  }),
  getReachability: route('GET /api/reachability', {
    summary:
      'How others can reach this node, by which ways it looks for them, and how its clock compares to theirs',
    answer: json(reachabilityView, 'As far as the node knows.'),
    errors: ['node.not_ready'],
  }),
  getLogLevel: route('GET /api/log-level', {
    summary: 'What the node logs, for all and for each subsystem',
    answer: json(logLevelView, 'The levels in force.'),
    errors: ['node.no_log'],
  }),
  putLogLevel: route('PUT /api/log-level', {
    level: 'admin',
    isLocal: true,
    summary: 'Change what the node logs from now on, in place of what was in force',
    body: z
      .object({
        Level: z.string().max(MAX_LOG_LEVEL_CHARACTERS).meta({
          description: 'The form of --log-level: one level for all, and others for single subsystems.',
          example: 'info,p2p=debug',
        }),
        Keep: z
          .boolean()
          .optional()
          .meta({ description: 'Also after a restart, unless that names levels itself; false forgets it.' }),
      })
      .meta({ id: 'LogLevelRequest' }),
    answer: json(logLevelView, 'The levels in force now.'),
    errors: ['node.no_log', 'node.bad_log_level', 'node.not_kept'],
  }),
  readLog: route('GET /api/log', {
    level: 'admin',
    summary: 'The last lines of the log, and with `after` those that came since',
    query: z.object({
      after: wholeNumber.optional().meta({ description: '`Next` of the answer before.', example: 1200 }),
    }),
    answer: json(logLinesView, 'Lines that the levels in force let through.'),
    errors: ['node.no_log'],
  }),
  runDoctor: route('GET /api/doctor', {
    level: 'admin',
    summary: 'Examine the machine and the node, as `mesh doctor` does',
    answer: list(checkView, 'In the order in which things can be mended.'),
    errors: ['node.not_ready'],
  }),
  listSettings: route('GET /api/node/settings', {
    level: 'admin',
    summary: 'The settings in force, and where each came from; secrets are masked',
    answer: list(settingView, 'In the order of the help.'),
    errors: [],
  }),
  getOpenApi: route('GET /api/openapi.json', {
    summary: 'This document',
    answer: json(
      later(() => z.looseObject({ openapi: z.string() })),
      'OpenAPI 3.1.',
    ),
    errors: [],
  }),
  getLiveness: route('GET /healthz', {
    level: 'open',
    summary: 'Does the process answer?',
    answer: { kind: 'text', description: '`ok`' },
    errors: [],
  }),
  getReadiness: route('GET /readyz', {
    level: 'open',
    summary: 'Has the node joined its network?',
    answer: { kind: 'text', description: '`ok`' },
    errors: ['node.not_ready'],
  }),
  getMetrics: route('GET /metrics', {
    summary: 'Counters and gauges in the Prometheus text format',
    answer: { kind: 'text', description: 'Prometheus text.' },
    errors: [],
  }),
} as const
