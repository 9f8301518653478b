/** Access rules: the policy in force, what another one would change, and signing it. */
import * as z from 'zod'
import { routesOf } from '../route.ts'
import {
  policySchemaView,
  policyTextRequest,
  rulesCheckView,
  rulesTestView,
  rulesView,
  rulesWhoView,
  signedRulesView,
} from '../views/rules.ts'
import { json } from './answers.ts'

const place = z
  .string()
  .max(200)
  .meta({ description: 'A member (name or peer id), an address, guest:NAME@MEMBER, route:RANGE or exit.' })
const unready = ['node.not_ready'] as const
const errors = [...unready, 'trust.bad_policy'] as const

const route = routesOf('access')

export const rulesRoutes = {
  getRules: route('GET /api/rules', {
    summary: 'The access rules in force, who reaches what by them, and what they refused',
    answer: json(rulesView, 'As this node knows it.'),
    errors: [],
  }),
  getRulesSchema: route('GET /api/rules/schema', {
    summary: 'The JSON Schema of policies, for editors',
    answer: json(policySchemaView, 'The schema.'),
    errors: unready,
  }),
  testRules: route('GET /api/rules/test', {
    summary: 'Whether one end may reach another one, and which rule says so',
    query: z.object({
      from: place,
      to: place,
      on: z.string().max(200).meta({
        description: 'tcp:PORT, udp:PORT, icmp, service:NAME, files or egress.',
        example: 'tcp:443',
      }),
    }),
    answer: json(rulesTestView, 'The answer, and a sentence for people.'),
    errors,
  }),
  listWhoReaches: route('GET /api/rules/who', {
    summary: 'Who reaches a member, guest, network or the Internet, and on what',
    query: z.object({ to: place }),
    answer: json(rulesWhoView, 'Each end that reaches it.'),
    errors: ['trust.bad_policy'],
  }),
  checkRules: route('POST /api/rules/check', {
    level: 'admin',
    summary: 'Check a policy: resolve names, run its tests, and compare it with what is in force',
    body: policyTextRequest(),
    answer: json(rulesCheckView, 'What it would do. Nothing changes.'),
    errors,
  }),
  putRules: route('PUT /api/rules', {
    level: 'admin',
    isLocal: true,
    summary: "Sign a policy for the whole network, with the administrator's key that this node holds",
    body: z
      .object({
        Text: z.string().meta({ description: 'A policy as YAML or JSON, at most 64 KiB.' }),
        Force: z.boolean().optional().meta({
          description: 'Sign it although this node may begin nothing any more by it.',
        }),
        Serial: z.number().int().nonnegative().optional().meta({
          description:
            'The policy that was in force when this one was made, 0 for none: refused if another one is.',
        }),
      })
      .meta({ id: 'PolicyRequest' }),
    answer: json(signedRulesView, 'It is in the ledger.'),
    errors: [
      ...errors,
      'trust.no_administrators',
      'trust.no_admin_key',
      'trust.foreign_admin_key',
      'trust.not_stated',
      'trust.policy_too_large',
      'trust.policy_changed',
      'trust.tests_failed',
      'trust.cuts_self',
    ],
  }),
} as const
