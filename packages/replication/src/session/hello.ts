/** Where a ledger stands, in 40 bytes: what the periodic check compares. */
import type { PositionRange, Snapshot } from '@mesh/ledger'
import { MAX_HEARTBEATS_COMPARED, SHORT_HASH_BYTES } from '../limits.ts'
import { equalBytes, HEARTBEATS, hexOf, shortHashOf, WHOLE_LEDGER } from './position.ts'
import type { Hello } from './sync-message.ts'

/** A snapshot never changes, and is asked about several times. */
const hellos = new WeakMap<Snapshot, Hello>()

export function helloOf(snapshot: Snapshot): Hello {
  const known = hellos.get(snapshot)
  if (known !== undefined) return known
  const hello = buildHello(snapshot)
  hellos.set(snapshot, hello)
  return hello
}

function buildHello(snapshot: Snapshot): Hello {
  return {
    size: snapshot.size,
    digest: bytesOfHex(snapshot.digest().digest).subarray(0, SHORT_HASH_BYTES),
    heartbeats: heartbeatsOf(snapshot),
  }
}

/**
 * Gives what two ledgers must compare; undefined when they agree. Heartbeats alone are a small part of a
 * ledger.
 */
export function differingRange(ours: Hello, theirs: Hello): PositionRange | undefined {
  if (!equalBytes(ours.digest, theirs.digest)) return WHOLE_LEDGER
  return equalBytes(ours.heartbeats, theirs.heartbeats) ? undefined : HEARTBEATS
}

/** The two states of a session as a map's key. */
export function stateKey(hello: Hello): string {
  return hexOf(hello.digest) + hexOf(hello.heartbeats)
}

/** The ledger's digest leaves heartbeats out; tombstones, which not everybody needs, are left out here too. */
function heartbeatsOf(snapshot: Snapshot): Uint8Array {
  const combined = new Uint8Array(SHORT_HASH_BYTES)
  let compared = 0
  for (const keyed of snapshot.entriesIn(HEARTBEATS)) {
    if (keyed.entry.deleted) continue
    if (++compared > MAX_HEARTBEATS_COMPARED) break
    const hash = shortHashOf(snapshot, keyed)
    for (let at = 0; at < SHORT_HASH_BYTES; at++) combined[at] = (combined[at] ?? 0) ^ (hash[at] ?? 0)
  }
  return combined
}

function bytesOfHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(2 * at, 2 * at + 2), 16),
  )
}
