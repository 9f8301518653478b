/** Tells people and programs of access rules: problems with what to do, and families of `/metrics`. */
import { counter, gauge, type HealthProblem, type Metric } from '@mesh/api-server'
import { describeEndpoint, type RefusalCount } from '@mesh/trust/rules'
import type { NodeRules } from './open-rules.ts'

/** The pairs that `/metrics` tells apart; the others are counted in all. */
const MAX_METRIC_PAIRS = 64

export function rulesProblems({ own }: Pick<NodeRules, 'own'>): readonly HealthProblem[] {
  return own?.problems() ?? []
}

/** A fixed number of samples at most. */
export function rulesMetrics({ rules }: Pick<NodeRules, 'rules'>): readonly Metric[] {
  const { refusals, network } = rules
  const labelsOf = ({ from, to }: RefusalCount) => ({
    from: describeEndpoint(from, (peer) => rules.nameOf(peer)),
    to: describeEndpoint(to, (peer) => rules.nameOf(peer)),
  })
  const pairs = refusals.all().slice(0, MAX_METRIC_PAIRS)
  return [
    gauge('mesh_rules_serial', 'Serial number of the policy in force; 0 for none.', network?.serial ?? 0),
    counter('mesh_rules_refused_total', 'What access rules refused.', refusals.total),
    counter(
      'mesh_rules_refused_by_pair_total',
      `What access rules refused of the ${MAX_METRIC_PAIRS} pairs that were refused last.`,
      pairs.map((pair) => ({ labels: labelsOf(pair), value: pair.count })),
    ),
  ]
}
