/**
 * Access rules: who may reach what in a mesh network. A policy is read, resolved, judged, and compiled for a packet filter.
 *
 * @example
 * ```ts
 * import { parsePeerId } from '@mesh/core'
 * import { readPolicy } from '@mesh/trust/policy-text'
 * import { resolvePolicy, runPolicyTests } from '@mesh/trust/rules'
 *
 * const text = `
 * allow: [{ from: [laptop-1], to: [db-1], on: [tcp:5432] }]
 * tests: [{ from: laptop-1, to: db-1, on: tcp:5432, expect: allow }]
 * `
 * const members = [
 *   { name: 'laptop-1', peer: parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB') },
 *   { name: 'db-1', peer: parsePeerId('12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo') },
 * ]
 * const { policy } = resolvePolicy(readPolicy(text), members)
 * console.log(runPolicyTests(policy, String))
 * ```
 */
export {
  AccessRules,
  type AccessRulesComponents,
  type AccessRulesInit,
  createAccessRules,
  type RefusedPackets,
} from './access-rules.ts'
export { checkPolicy } from './check-policy.ts'
export type { CompiledRules } from './compile-rules.ts'
export {
  describeEndpoint,
  type Endpoint,
  formatEndpoint,
  type Judgement,
  parseEndpoint,
  type Question,
  type RuleLayer,
} from './judge.ts'
export { OFFER_FORMS, type Offer, parseOffer, type RuledOffer, TESTED_FORMS } from './offers.ts'
export type { PacketMatch, PacketRange, PacketRule, PacketRules } from './packet-rules.ts'
export { type Policy, policyJsonSchema, type PolicyRule, type PolicyTest } from './policy-schema.ts'
export { questionOf, runPolicyTests, type TestResult } from './policy-tests.ts'
export {
  nameMembers,
  type NamedMember,
  type ResolvedPolicy,
  resolvePolicy,
  resolveWord,
} from './resolve-policy.ts'
export type { RefusalCount } from './refusal-counts.ts'
export { buildRuleSet, type RuleSet } from './rule-set.ts'
export { buildReachTable, compareRules, type ReachChange, type ReachRow, wordsFor } from './rule-table.ts'
export type { RuledGuest, RuledMember } from './ruled-members.ts'
export type { PolicySource, SignedPolicy } from './signed-policy.ts'
