/** Where a ledger stands, in 40 bytes: what the periodic check compares. */
import { BUCKETS } from '@mesh/core'
import type { PositionRange, Snapshot } from '@mesh/ledger'
import { SHORT_HASH_BYTES } from '../limits.ts'
import { equalBytes, HEARTBEATS, hexOf, WHOLE_LEDGER } from './position.ts'
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
    heartbeats: bytesOfHex(snapshot.bucketDigest(BUCKETS.healthcheck)).subarray(0, SHORT_HASH_BYTES),
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

function bytesOfHex(text: string): Uint8Array {
  return Uint8Array.from({ length: text.length / 2 }, (_, at) =>
    Number.parseInt(text.slice(2 * at, 2 * at + 2), 16),
  )
}
