/** What the attacks of a siege did, and which of them prove nothing: one that never reached its node was held off by nobody. */
import type { SiegeDeed } from './siege-attackers.ts'

/** The attacks of a siege by what became of them, by name. */
export interface SiegeOutcomes {
  /** The number of attacks that did at their node what they are about. */
  readonly carriedOut: number
  /** The node ended all that they tried. */
  readonly refused: readonly string[]
  /** What they tried ended at a deadline or in a handshake, at the node's bounds or for lack of a processor. They prove nothing. */
  readonly keptOut: readonly string[]
  /** Their turn did not come, or nothing is told of them. They prove nothing. */
  readonly neverRan: readonly string[]
  /** They failed by a fault of their own. They prove nothing, and the siege was not what it says. */
  readonly failed: readonly string[]
}

/** @param names all attacks of the siege: one of which nothing is told never ran */
export function outcomesOf(deeds: readonly SiegeDeed[], names: readonly string[]): SiegeOutcomes {
  const carriedBy = new Map(deeds.map(({ name, carried }) => [name, carried]))
  const those = (carried: SiegeDeed['carried']) =>
    names.filter((name) => (carriedBy.get(name) ?? 'never ran') === carried)
  return {
    carriedOut: those('carried out').length,
    refused: those('refused'),
    keptOut: those('kept out'),
    neverRan: those('never ran'),
    failed: those('failed'),
  }
}

/** A line for people. */
export function describeOutcomes({ carriedOut, refused, keptOut, neverRan, failed }: SiegeOutcomes): string {
  const all = carriedOut + [refused, keptOut, neverRan, failed].flat().length
  const parts = [
    part(refused, 'were refused at the door'),
    part(keptOut, 'did not reach their node and prove nothing'),
    part(neverRan, 'never ran and prove nothing'),
    part(failed, 'failed by themselves and prove nothing'),
  ]
  return [`${carriedOut} of ${all} attacks were carried out`, ...parts.filter((text) => text !== '')].join(
    '; ',
  )
}

function part(names: readonly string[], what: string): string {
  return names.length === 0 ? '' : `${names.length} ${what} (${names.join(', ')})`
}
