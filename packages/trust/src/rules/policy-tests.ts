/** Runs the tests that a policy holds. Pure. */
import type { PeerId } from '@mesh/core'
import { judgeQuestion, parseEndpoint, type Question } from './judge.ts'
import { parseOffer } from './offers.ts'
import type { Policy, PolicyTest } from './policy-schema.ts'
import { buildRuleSet } from './rule-set.ts'

/** A test and what came of it. */
export interface TestResult {
  readonly test: PolicyTest
  readonly passed: boolean
  /** The answer of the policy, as `Judgement.sentence`. */
  readonly sentence: string
}

/** @param policy with peer ids in the place of names */
export function runPolicyTests(policy: Policy, nameOf: (peer: PeerId) => string): readonly TestResult[] {
  const layers = [{ name: 'network', rules: buildRuleSet(policy) }] as const
  return policy.tests.map((test) => {
    const question = questionOf(test)
    if (question === undefined) return { test, passed: false, sentence: 'this test cannot be read' }
    const { allowed, sentence } = judgeQuestion(layers, question, nameOf)
    return { test, passed: allowed === (test.expect === 'allow'), sentence }
  })
}

/** Reads who asks whom for what; undefined where one of the words is none. */
export function questionOf(words: {
  readonly from: string
  readonly to: string
  readonly on: string
}): Question | undefined {
  const [from, to, on] = [parseEndpoint(words.from), parseEndpoint(words.to), parseOffer(words.on)]
  return from === undefined || to === undefined || on === undefined ? undefined : { from, to, on }
}
