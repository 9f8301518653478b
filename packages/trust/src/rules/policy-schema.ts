/** The form of a policy, as a person writes it and as it is signed; the published JSON Schema is made of this. */
import * as z from 'zod'
import {
  MAX_GROUP_MEMBERS,
  MAX_POLICY_GROUPS,
  MAX_POLICY_RULES,
  MAX_POLICY_TESTS,
  MAX_RULE_WORDS,
  MAX_WORD_LENGTH,
} from '../limits.ts'
import { OFFER_FORMS, parseOffer, parseOfferWord, TESTED_FORMS } from './offers.ts'
import { isPolicyName, parseTerm, SOURCE_FORMS, TARGET_FORMS, type Term } from './terms.ts'

const NAME_FORM = 'letters, digits, ., _ and -, at most 63 of them'
const ENDPOINT_KINDS: readonly Term['kind'][] = ['member', 'guest', 'route']

/** Names in patterns for editors. */
const NAME = '[A-Za-z0-9][A-Za-z0-9._-]*'
const LISTED = `${NAME}|guest:${NAME}@${NAME}`
const SOURCES = `\\*|${LISTED}|(group|tag):${NAME}|route:[0-9a-fA-F.:]+/[0-9]+`
const PORTS = '(tcp|udp)(:[0-9]+(-[0-9]+)?)?'
const SERVICE = `service:${NAME}|files|egress`

/**
 * Makes the schema of one word. `form` says in messages what would have been right. `pattern` tells editors as much as a regular
 * expression can.
 */
function word(form: string, pattern: string, isWord: (text: string) => boolean) {
  return z
    .string({ error: form })
    .max(MAX_WORD_LENGTH, { error: form })
    .refine((text) => isWord(text), { error: form })
    .meta({ description: form, pattern: `^(${pattern})$` })
}

const isTerm = (text: string, kinds?: readonly Term['kind'][]) => {
  const term = parseTerm(text)
  return term !== undefined && (kinds === undefined || kinds.includes(term.kind))
}

const source = () => word(SOURCE_FORMS, SOURCES, (text) => isTerm(text) && text !== 'exit')
const target = () => word(TARGET_FORMS, SOURCES, (text) => isTerm(text))
const offer = () =>
  word(OFFER_FORMS, `\\*|${PORTS}|icmp|${SERVICE}`, (text) => parseOfferWord(text) !== undefined)
const holder = () =>
  word('a member (name or peer id) or guest:NAME@MEMBER', LISTED, (text) => isTerm(text, ['member', 'guest']))
const testSource = () =>
  word('a member, guest:NAME@MEMBER or route:RANGE', SOURCES, (text) => isTerm(text, ENDPOINT_KINDS))
const testTarget = () =>
  word('a member, guest:NAME@MEMBER, route:RANGE or exit', SOURCES, (text) =>
    isTerm(text, [...ENDPOINT_KINDS, 'exit']),
  )
const testOffer = () =>
  word(TESTED_FORMS, `(tcp|udp):[0-9]+|icmp|${SERVICE}`, (text) => parseOffer(text) !== undefined)

function words(of: ReturnType<typeof source>, example: string) {
  const form = `a list of 1 to ${MAX_RULE_WORDS} words, such as ${example}`
  return z.array(of, { error: form }).min(1, { error: form }).max(MAX_RULE_WORDS, { error: form })
}

function lists(what: string, example: string) {
  const list = `a list of at most ${MAX_GROUP_MEMBERS} members, such as ${example}`
  const members = z.array(holder(), { error: list }).max(MAX_GROUP_MEMBERS, { error: list })
  const name = z.string().refine((text) => isPolicyName(text), { error: NAME_FORM })
  return z
    .record(name, members, { error: `${what} by name, such as { ops: ${example} }` })
    .refine((all) => Object.keys(all).length <= MAX_POLICY_GROUPS, {
      error: `at most ${MAX_POLICY_GROUPS} ${what}`,
    })
    .default({})
}

const rule = () =>
  z.strictObject(
    {
      from: words(source(), '[group:ops]').meta({ description: `Who may begin: ${SOURCE_FORMS}.` }),
      to: words(target(), '[tag:db]').meta({ description: `What they may reach: ${TARGET_FORMS}.` }),
      on: words(offer(), '[tcp:443]').meta({ description: `On what: ${OFFER_FORMS}.` }),
    },
    { error: 'a rule with from, to and on' },
  )

const policyTest = () =>
  z.strictObject(
    {
      from: testSource(),
      to: testTarget(),
      on: testOffer(),
      expect: z
        .enum(['allow', 'refuse'], { error: 'allow or refuse' })
        .meta({ description: 'What the policy must do with it: allow or refuse.' }),
    },
    { error: 'a test with from, to, on and expect' },
  )

function buildPolicySchema() {
  return z
    .strictObject(
      {
        $schema: z.string().optional().meta({ description: 'The address of this schema, for editors.' }),
        default: z.enum(['refuse', 'allow'], { error: 'refuse or allow' }).default('refuse').meta({
          description: 'What happens to a flow that no rule allows. With allow, everything is allowed.',
        }),
        groups: lists('groups', '[laptop-1]').meta({
          description: 'People: members by group. A name is resolved to a peer id when the policy is signed.',
        }),
        tags: lists('tags', '[db-1, db-2]').meta({ description: 'What machines are: members by tag.' }),
        allow: z
          .array(rule(), { error: 'a list of rules' })
          .max(MAX_POLICY_RULES, { error: `at most ${MAX_POLICY_RULES} rules` })
          .default([])
          .meta({ description: 'A flow is allowed when at least one rule allows it.' }),
        tests: z
          .array(policyTest(), { error: 'a list of tests' })
          .max(MAX_POLICY_TESTS, { error: `at most ${MAX_POLICY_TESTS} tests` })
          .default([])
          .meta({ description: 'What the policy must do. A policy whose tests fail is not signed.' }),
      },
      { error: 'a policy: default, groups, tags, allow and tests' },
    )
    .meta({ title: 'Access rules of a mesh network', description: 'Who may reach what, and on what.' })
}

let made: ReturnType<typeof buildPolicySchema> | undefined

/**
 * Reads a policy from parsed YAML or JSON. What is missing is empty; without `default` what no rule allows is refused. Made when
 * it is first asked for: a node that starts needs none.
 */
export function policySchema(): ReturnType<typeof buildPolicySchema> {
  made ??= buildPolicySchema()
  return made
}

/** A policy as it was read. In a signed one members are peer ids. */
export type Policy = Omit<z.infer<ReturnType<typeof policySchema>>, '$schema'>
/** One rule of a policy. */
export type PolicyRule = Policy['allow'][number]
/** One test of a policy. */
export type PolicyTest = Policy['tests'][number]

/** Builds the JSON Schema of policies (draft 2020-12). */
export function policyJsonSchema(): Readonly<Record<string, unknown>> {
  return z.toJSONSchema(policySchema(), { io: 'input' })
}
