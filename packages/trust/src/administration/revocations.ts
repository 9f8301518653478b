/**
 * The revocations and ended memberships that stand, and what they leave of a peer's entries: what each of them leaves.
 * That hangs on the statements and the entry alone, so that all nodes come to the same in whatever order they heard of
 * either.
 */
import type { PeerId } from '@mesh/core'
import type { Entry, KeyedEntry } from '@mesh/ledger'
import { hasEntry } from './kept-entries.ts'
import type { Roster } from './roster.ts'
import type { ReadStatement } from './statement-reader.ts'
import type { MemberStatement } from './statements.ts'
import { toBase64url } from './encodings.ts'

/** A statement that shuts a peer out, or whose time is over, and the entry that holds it. */
interface Revocation {
  readonly statement: MemberStatement
  readonly entry: Entry
}

const NANOS_PER_MS = 1_000_000n

export class Revocations {
  readonly #ofPeer = new Map<string, Revocation[]>()

  /** @param standing all revocations that stand, in the order of their keys */
  constructor(standing: Iterable<Revocation> = []) {
    for (const revocation of standing) {
      const { peer } = revocation.statement
      const known = this.#ofPeer.get(peer)
      if (known === undefined) this.#ofPeer.set(peer, [revocation])
      else known.push(revocation)
    }
  }

  /** Names the revocations of a peer, so that others than before are noticed; '' where it has none. */
  idOf(peer: PeerId): string {
    const revocations = this.#ofPeer.get(peer) ?? []
    return revocations.map(({ entry }) => toBase64url(entry.sig ?? new Uint8Array())).join()
  }

  /** True for an entry of a peer that is out which stays, and which members may show to others. */
  keeps(keyed: KeyedEntry): boolean {
    const revocations = this.#ofPeer.get(keyed.entry.owner)
    return revocations?.every((each) => leaves(each, keyed)) ?? false
  }
}

/**
 * Of an ended membership stays what is dated before its end. A revocation of an earlier version of the node names no
 * entries: then what is dated before it stays.
 */
function leaves({ statement, entry }: Revocation, keyed: KeyedEntry): boolean {
  const { kept, until } = statement
  if (until !== undefined) return keyed.entry.version <= BigInt(until) * NANOS_PER_MS
  return kept === undefined ? keyed.entry.version <= entry.version : hasEntry(kept, keyed)
}

/** Picks the revocations and the ended memberships. */
export function* standingRevocations(
  read: Iterable<ReadStatement>,
  { ended }: Pick<Roster, 'ended'>,
): Iterable<Revocation> {
  for (const { statement, entry } of read) {
    if (statement.kind !== 'member') continue
    const isOver = statement.until !== undefined && ended.has(statement.peer)
    if (statement.state === 'revoked' || isOver) yield { statement, entry }
  }
}
