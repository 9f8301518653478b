/** Access rules: who may reach what. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count, peerId } from './fields.ts'

const words = () => z.array(z.string()).meta({ description: "Words of a policy's `on`; `*` is everything." })

/** One end of a flow. */
export const ruleEndpoint = later(() =>
  z
    .object({
      Word: z.string().meta({
        description: 'As policies name it: a peer id, guest:NAME@PEERID, route:RANGE or exit.',
      }),
      Name: z.string().meta({ description: 'What people call it.' }),
    })
    .meta({ id: 'RuleEndpoint' }),
)

const policy = later(() =>
  z
    .object({
      default: z.enum(['refuse', 'allow']),
      groups: z.record(z.string(), z.array(z.string())),
      tags: z.record(z.string(), z.array(z.string())),
      allow: z.array(
        z.object({ from: z.array(z.string()), to: z.array(z.string()), on: z.array(z.string()) }),
      ),
      tests: z.array(
        z.object({
          from: z.string(),
          to: z.string(),
          on: z.string(),
          expect: z.enum(['allow', 'refuse']),
        }),
      ),
    })
    .meta({ id: 'Policy', description: 'Members stand by their peer ids.' }),
)

const reach = later(() =>
  z
    .object({ From: z.array(ruleEndpoint()), To: z.array(ruleEndpoint()), On: words() })
    .meta({ id: 'Reach', description: 'Each of From reaches each of To on these.' }),
)

const signed = () => ({
  Serial: z.number().int().positive().meta({ description: 'The greatest one counts.' }),
  Administrator: peerId(),
  SignedAt: z.string().meta({ description: 'RFC 3339, UTC, by the clock of the administrator.' }),
})

export const rulesView = later(() =>
  z
    .object({
      Network: z
        .object({
          ...signed(),
          Policy: policy(),
          Names: z.record(z.string(), z.string()).meta({ description: 'Names by peer id, as signed.' }),
          Text: z.string().meta({ description: 'YAML, with names where a name stands for one member.' }),
        })
        .nullable()
        .meta({ description: "The network's policy; null: everything is allowed." }),
      Own: z
        .object({ File: z.string(), Policy: policy(), Text: z.string() })
        .nullable()
        .meta({ description: "The node's own rules (--rules FILE), which narrow what others reach here." }),
      CanSign: z.boolean().meta({ description: "This node holds an administrator's key." }),
      Table: z.array(reach()).meta({ description: "Who reaches what, by the network's policy." }),
      More: z.boolean().meta({ description: 'The table does not show all.' }),
      Refused: z.array(
        z.object({
          From: ruleEndpoint(),
          To: ruleEndpoint(),
          On: z.string().meta({ description: 'The last of what was refused.' }),
          Count: count(),
          LastAt: z.string().meta({ description: 'RFC 3339, UTC.' }),
        }),
      ),
    })
    .meta({ id: 'Rules' }),
)
export type RulesView = z.output<ReturnType<typeof rulesView>>

export const policyTextRequest = later(() =>
  z
    .object({ Text: z.string().meta({ description: 'A policy as YAML or JSON, at most 64 KiB.' }) })
    .meta({ id: 'PolicyText' }),
)

export const rulesCheckView = later(() =>
  z
    .object({
      Policy: policy(),
      Names: z.record(z.string(), z.string()).meta({ description: 'Names that were resolved, by peer id.' }),
      TextWithIds: z.string().meta({ description: 'YAML with peer ids alone, for --rules FILE.' }),
      Tests: z.array(
        z.object({
          From: z.string(),
          To: z.string(),
          On: z.string(),
          Expect: z.enum(['allow', 'refuse']),
          Passed: z.boolean(),
          Sentence: z.string(),
        }),
      ),
      Changes: z
        .array(
          z
            .object({
              From: z.array(ruleEndpoint()),
              To: z.array(ruleEndpoint()),
              Before: words(),
              After: words(),
            })
            .meta({ id: 'ReachChange' }),
        )
        .meta({ description: "Pairs that gain or lose, against the network's policy in force." }),
      More: z.boolean().meta({ description: 'There are more changes.' }),
      CutsOff: z.boolean().meta({ description: 'By this policy this node may begin nothing any more.' }),
    })
    .meta({ id: 'RulesCheck' }),
)
export type RulesCheckView = z.output<ReturnType<typeof rulesCheckView>>

export const signedRulesView = later(() => z.object(signed()).meta({ id: 'SignedRules' }))
export type SignedRulesView = z.output<ReturnType<typeof signedRulesView>>

export const rulesTestView = later(() =>
  z
    .object({
      Allowed: z.boolean(),
      Sentence: z.string(),
      From: ruleEndpoint(),
      To: ruleEndpoint(),
    })
    .meta({ id: 'RulesTest' }),
)
export type RulesTestView = z.output<ReturnType<typeof rulesTestView>>

export const rulesWhoView = later(() =>
  z
    .object({
      To: ruleEndpoint(),
      Everybody: z.boolean().meta({ description: 'No rules limit who reaches it.' }),
      Reached: z.array(z.object({ From: ruleEndpoint(), On: words() })),
    })
    .meta({ id: 'RulesWho' }),
)
export type RulesWhoView = z.output<ReturnType<typeof rulesWhoView>>

export const policySchemaView = later(() =>
  z.record(z.string(), z.unknown()).meta({ description: 'A JSON Schema.' }),
)
