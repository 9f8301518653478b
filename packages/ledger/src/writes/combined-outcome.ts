import type { WriteOutcome } from '../ledger.ts'

/**
 * Gives the fate of several writes as that of one: refused when one of them was, else committed in the last
 * block of theirs.
 * @param headIndex the block in which nothing at all is said to be
 */
export async function combinedOutcome(
  writes: readonly Promise<WriteOutcome>[],
  headIndex: () => number,
): Promise<WriteOutcome> {
  const outcomes = await Promise.all(writes)
  const refused = outcomes.find(({ state }) => state === 'refused')
  if (refused !== undefined) return refused
  const blocks = outcomes.map((outcome) => (outcome.state === 'committed' ? outcome.block : 0))
  const block = blocks.reduce((last, next) => Math.max(last, next), 0)
  return block > 0 || outcomes.length === 0
    ? { state: 'committed', block: block || headIndex() }
    : { state: 'superseded' }
}
