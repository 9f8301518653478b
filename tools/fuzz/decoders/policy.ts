/** What is done with each policy of access rules that a decoder lets through. */
import { parsePeerId } from '@mesh/core'
import { compileRules } from '../../../packages/trust/src/rules/compile-rules.ts'
import { checkPolicy } from '../../../packages/trust/src/rules/check-policy.ts'
import { listEndpoints } from '../../../packages/trust/src/rules/list-endpoints.ts'
import type { Policy } from '../../../packages/trust/src/rules/policy-schema.ts'
import { runPolicyTests } from '../../../packages/trust/src/rules/policy-tests.ts'
import { buildReachTable } from '../../../packages/trust/src/rules/rule-table.ts'
import { buildRuleSet } from '../../../packages/trust/src/rules/rule-set.ts'

const SELF = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')

/** A real policy. */
export const POLICY = checkPolicy({
  groups: { ops: [SELF] },
  tags: { db: [`guest:phone@${SELF}`] },
  allow: [
    { from: ['group:ops', 'route:10.0.0.0/8'], to: ['tag:db', 'exit'], on: ['tcp:22', 'udp:1-9', 'icmp'] },
    { from: ['*'], to: [SELF, 'route:fd00::/8'], on: ['service:shop', 'files', 'egress', '*'] },
  ],
  tests: [{ from: SELF, to: 'exit', on: 'tcp:22', expect: 'allow' }],
})

/** Judges, compiles and lists it, as a node does. */
export function applyPolicy(policy: Policy): void {
  const rules = buildRuleSet(policy)
  const layer = { name: 'network', rules } as const
  runPolicyTests(policy, String)
  compileRules([layer], { self: SELF, members: new Map(), vpnRanges: [], silent: false })
  buildReachTable(layer, listEndpoints(new Map(), [rules]))
}
