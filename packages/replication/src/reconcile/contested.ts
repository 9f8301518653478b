/**
 * Entries of this ledger that a peer refused because of a live owner, or because it knows that they have ended. Only the
 * owner can settle this, or the leader by a new tombstone. Both may not be neighbours of this node. So after a while the
 * node publishes the entry on the topic, if nothing has changed by then.
 */
import { type Clock, positionId, type Random } from '@mesh/core'
import type { KeyedEntry, Ledger } from '@mesh/ledger'
import { CONTESTED_CROWD, CONTESTED_DELAY_MS, CONTESTED_MOST_CROWDS, MAX_CONTESTED } from '../limits.ts'
import type { ReplicationTopic } from '../ports.ts'
import type { Publisher } from '../gossip/publisher.ts'

export interface ContestedComponents {
  readonly ledger: Pick<Ledger, 'self' | 'snapshot'>
  readonly publisher: Pick<Publisher, 'publish'>
  readonly topic: Pick<ReplicationTopic, 'peers'>
  readonly clock: Clock
  readonly random: Random
}

export function createContested(components: ContestedComponents) {
  const { ledger, publisher, topic, clock, random } = components
  const waiting = new Map<string, KeyedEntry>()
  let cancel: (() => void) | undefined
  const tell = () => {
    cancel = undefined
    const snapshot = ledger.snapshot()
    const unchanged = [...waiting.values()].filter(({ bucket, key, entry }) => {
      const held = snapshot.get(bucket, key)
      return held?.version === entry.version && held.owner === entry.owner
    })
    waiting.clear()
    publisher.publish(unchanged)
  }
  /** Where many hold the same, one of them is the first, and the others find it settled. */
  const delayMs = (): number => {
    const crowd = Math.min(CONTESTED_MOST_CROWDS, Math.max(1, topic.peers().length / CONTESTED_CROWD))
    return CONTESTED_DELAY_MS * (0.2 + (crowd - 0.2) * random.float())
  }
  /**
   * True when a refusal is worth telling others. Of a conflict between two that live each tells the other
   * itself; for one that is gone others must speak.
   */
  const isOfInterest = ({ entry }: KeyedEntry, code: string): boolean => {
    if (code === 'TOMB_NOT_OWNER' || code === 'REPLAYED') return true
    const isClaim = code === 'NOT_OWNER' && entry.owner !== ''
    return (
      isClaim && (entry.owner === ledger.self || !ledger.snapshot().isOwnerLive(entry.owner, clock.now()))
    )
  }
  return {
    refusedThere(keyed: KeyedEntry, code: string) {
      if (!isOfInterest(keyed, code) || waiting.size >= MAX_CONTESTED) return
      waiting.set(positionId(keyed), keyed)
      cancel ??= clock.after(delayMs(), tell)
    },
    stop() {
      cancel?.()
      waiting.clear()
    },
  }
}

export type Contested = ReturnType<typeof createContested>
