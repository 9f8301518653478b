/** What the attacks of a siege did, and which of them prove nothing: one that never reached its node was held off by nobody. */
import type { SiegeDeed } from './siege-attackers.ts'

/** The attacks of a siege by what became of them, by name. */
export interface SiegeOutcomes {
  /** The number of attacks that did at their node what they are about. */
  readonly carriedOut: number
  /** The node ended all that they tried. */
  readonly refused: readonly string[]
  /** All that they tried ended at its deadline, at the node's bounds or for lack of a processor. They prove nothing. */
  readonly outOfTime: readonly string[]
  /** They tried nothing, or failed by themselves. They prove nothing, and the siege was not what it says. */
  readonly notCarriedOut: readonly string[]
}

/** @param names all attacks of the siege: one of which nothing is told was not carried out */
export function outcomesOf(deeds: readonly SiegeDeed[], names: readonly string[]): SiegeOutcomes {
  const carriedBy = new Map(deeds.map(({ name, carried }) => [name, carried]))
  const those = (carried: SiegeDeed['carried']) =>
    names.filter((name) => (carriedBy.get(name) ?? 'not carried out') === carried)
  return {
    carriedOut: those('carried out').length,
    refused: those('refused'),
    outOfTime: those('out of time'),
    notCarriedOut: those('not carried out'),
  }
}

/** A line for people. */
export function describeOutcomes({ carriedOut, refused, outOfTime, notCarriedOut }: SiegeOutcomes): string {
  const all = carriedOut + refused.length + outOfTime.length + notCarriedOut.length
  const parts = [
    part(refused, 'were refused at the door'),
    part(outOfTime, 'had no time to reach their node and prove nothing'),
    part(notCarriedOut, 'were not carried out and prove nothing'),
  ]
  return [`${carriedOut} of ${all} attacks were carried out`, ...parts.filter((text) => text !== '')].join(
    '; ',
  )
}

function part(names: readonly string[], what: string): string {
  return names.length === 0 ? '' : `${names.length} ${what} (${names.join(', ')})`
}
