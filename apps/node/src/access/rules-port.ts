/** Access rules as the API shows them, and what it asks of them. */
import type { RulesView } from '@mesh/api-contract'
import type { RulesPort } from '@mesh/api-server'
import {
  type AccessRules,
  buildReachTable,
  buildRuleSet,
  compareRules,
  describeEndpoint,
  type Endpoint,
  formatEndpoint,
  nameMembers,
  type Policy,
  parseEndpoint,
  policyJsonSchema,
  questionOf,
  resolvePolicy,
  resolveWord,
  type ResolvedPolicy,
  type RuleLayer,
  runPolicyTests,
  TESTED_FORMS,
  wordsFor,
} from '@mesh/trust/rules'
import { MeshError, tryParseIp } from '@mesh/core'
import type { OwnRules } from './own-rules.ts'

interface RulesComponents {
  readonly rules: AccessRules
  /** The file of `--rules`; undefined without one. */
  readonly own: Pick<OwnRules, 'file'> | undefined
}

/** The most rows of a table, or of a comparison, that one answer has. */
const MAX_ROWS = 1_000
const ENDPOINT_FORM = 'a member (name or peer id), an address, guest:NAME@MEMBER, route:RANGE or exit'

type FormatPolicy = (policy: Policy, comment?: string) => string

/** Loads the parser when somebody asks for the text of a policy. */
const policyText = () => import('@mesh/trust/policy-text')

export function createRulesPort({ rules, own }: RulesComponents): RulesPort {
  const name = (peer: Parameters<AccessRules['nameOf']>[0]) => rules.nameOf(peer)
  const end = (endpoint: Endpoint) => viewEndpoint(rules, endpoint)
  const parse = (text: string, field: string) => parsePlace(rules, text, field)
  return {
    view: async () => viewRules(rules, own?.file, (await policyText()).formatPolicy),
    schema: async () => ({ ...policyJsonSchema() }),
    test(words) {
      const [from, to] = [parse(words.from, 'from'), parse(words.to, 'to')]
      const question = questionOf({ from: formatEndpoint(from), to: formatEndpoint(to), on: words.on })
      if (question === undefined) throw badWord('on', words.on, TESTED_FORMS)
      const { allowed, sentence } = rules.judgeQuestion(question)
      return { Allowed: allowed, Sentence: sentence, From: end(from), To: end(to) }
    },
    who(text) {
      const to = parse(text, 'to')
      const layer = networkLayer(rules)
      const reached = rules
        .endpoints()
        .filter((from) => from.kind !== 'exit' && formatEndpoint(from) !== formatEndpoint(to))
        .map((from) => ({ From: end(from), On: [...wordsFor(layer, from, to)] }))
      const isOpen = layer === undefined || layer.rules.isOpen
      return { To: end(to), Everybody: isOpen, Reached: reached.filter(({ On }) => On.length > 0) }
    },
    async check(text) {
      const { readPolicy, formatPolicy } = await policyText()
      return viewCheck(rules, resolvePolicy(readPolicy(text), rules.namedMembers()), formatPolicy)
    },
    onRefused: (listener) =>
      rules.refusals.onRefused(({ from, to, on, count }) =>
        listener({ From: end(from), To: end(to), On: on, Count: count }),
      ),
    async set(text, options) {
      const { readPolicy } = await policyText()
      const resolved = resolvePolicy(readPolicy(text), rules.namedMembers())
      return viewSigned(rules.setNetwork(resolved, options))
    },
  }

  function viewCheck(of: AccessRules, resolved: ResolvedPolicy, format: FormatPolicy) {
    const { policy, names } = resolved
    const after: RuleLayer = { name: 'network', rules: buildRuleSet(policy) }
    const compared = compareRules(networkLayer(of), after, of.endpoints(after.rules))
    return {
      Policy: policy,
      Names: { ...names },
      TextWithIds: format(policy, namesComment(names)),
      Tests: runPolicyTests(policy, name).map(({ test, passed, sentence }) => ({
        From: test.from,
        To: test.to,
        On: test.on,
        Expect: test.expect,
        Passed: passed,
        Sentence: sentence,
      })),
      Changes: compared.rows.slice(0, MAX_ROWS).map(({ from, to, before, after: next }) => ({
        From: from.map(end),
        To: to.map(end),
        Before: [...before],
        After: [...next],
      })),
      More: compared.isCut || compared.rows.length > MAX_ROWS,
      CutsOff: of.cutsOff(policy),
    }
  }
}

function viewRules(rules: AccessRules, file: string | undefined, format: FormatPolicy): RulesView {
  const { network, own } = rules
  const { rows, isCut } = buildReachTable(networkLayer(rules), rules.endpoints())
  const ends = (endpoints: readonly Endpoint[]) => endpoints.map((each) => viewEndpoint(rules, each))
  return {
    Network:
      network === undefined
        ? null
        : {
            ...viewSigned(network),
            Policy: network.policy,
            Names: { ...network.names },
            Text: textOf(rules, network.policy, format),
          },
    Own: own === undefined ? null : { File: file ?? '', Policy: own, Text: textOf(rules, own, format) },
    CanSign: rules.canSign,
    Table: rows
      .slice(0, MAX_ROWS)
      .map(({ from, to, on }) => ({ From: ends(from), To: ends(to), On: [...on] })),
    More: isCut || rows.length > MAX_ROWS,
    Refused: rules.refusals.all().map(({ from, to, on, count, lastAt }) => ({
      From: viewEndpoint(rules, from),
      To: viewEndpoint(rules, to),
      On: on,
      Count: count,
      LastAt: new Date(lastAt).toISOString(),
    })),
  }
}

function viewSigned(signed: NonNullable<AccessRules['network']>) {
  const { serial, admin, signedAt } = signed
  return { Serial: serial, Administrator: admin, SignedAt: new Date(signedAt).toISOString() }
}

function viewEndpoint(rules: AccessRules, endpoint: Endpoint) {
  const Name = describeEndpoint(endpoint, (peer) => rules.nameOf(peer))
  return { Word: formatEndpoint(endpoint), Name }
}

function networkLayer({ layers }: AccessRules): RuleLayer | undefined {
  return layers.find(({ name }) => name === 'network')
}

function textOf(rules: AccessRules, policy: Policy, format: FormatPolicy): string {
  return format(nameMembers(policy, rules.namedMembers()))
}

/** The names that stood for the peer ids, for people who read the file. */
function namesComment(names: Readonly<Record<string, string>>): string {
  return Object.entries(names)
    .map(([peer, called]) => `${peer} is ${called}`)
    .join('\n')
}

/** @throws MeshError `trust.bad_policy` */
function parsePlace(rules: AccessRules, text: string, field: string): Endpoint {
  const address = tryParseIp(text)
  if (address !== undefined) return rules.endpointOf(address)
  const word = resolveWord(text, rules.namedMembers(), { field, form: ENDPOINT_FORM })
  const endpoint = parseEndpoint(word)
  if (endpoint === undefined) throw badWord(field, text, ENDPOINT_FORM)
  return endpoint
}

function badWord(field: string, value: string, expected: string) {
  return new MeshError('trust.bad_policy', `${field} cannot be read`, {
    issues: [{ field, value, expected }],
  })
}
