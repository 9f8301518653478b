/** A naive ledger for tests of the protocol: a sorted array, and the newer version wins. */
import { createHash } from 'node:crypto'
import {
  comparePositions,
  type Entry,
  isVersionAhead,
  type KeyedEntry,
  type Position,
  type PositionRange,
  type Snapshot,
} from '@mesh/ledger'
import { createRefusalMemory } from '../src/reconcile/refusals.ts'
import { Session } from '../src/session/session.ts'
import { hexOf } from '../src/session/position.ts'
import { helloOf } from '../src/session/hello.ts'
import type { Refusal, SyncMessage } from '../src/session/sync-message.ts'
import { decodeSyncMessage, encodeSyncMessage } from '../src/session/sync-message-codec.ts'

const MODULUS = 2n ** 256n

export function twinEntry(version: bigint, value = `"${version}"`, owner = ''): Entry {
  return { value, owner, version, updatedAt: 1_790_000_000, deleted: false, sig: null }
}

export function hashTwin({ bucket, key, entry }: KeyedEntry): Uint8Array {
  const text = JSON.stringify([bucket, key, { ...entry, version: String(entry.version) }])
  return createHash('sha256').update(text).digest()
}

export interface TwinLedger {
  readonly nowMs: number
  readonly refusals: ReturnType<typeof createRefusalMemory>
  readonly refusedThere: ReturnType<typeof createRefusalMemory>
  put(bucket: string, key: string, entry: Entry): void
  merge(entries: readonly KeyedEntry[]): Refusal[]
  snapshot(): Snapshot
  /** Names entries that are refused, whatever their version. */
  refuse: (keyed: KeyedEntry) => string | undefined
}

export function createTwinLedger(entries: Iterable<KeyedEntry> = []): TwinLedger {
  const stored = new Map<string, KeyedEntry>()
  for (const keyed of entries) stored.set(`${keyed.bucket}\0${keyed.key}`, keyed)
  let cached: Snapshot | undefined
  const twin: TwinLedger = {
    nowMs: 0,
    refusals: createRefusalMemory(),
    refusedThere: createRefusalMemory(),
    refuse: () => undefined,
    put(bucket, key, entry) {
      stored.set(`${bucket}\0${key}`, { bucket, key, entry })
      cached = undefined
    },
    merge(incoming) {
      const refused: Refusal[] = []
      for (const keyed of incoming) {
        const held = stored.get(`${keyed.bucket}\0${keyed.key}`)
        const code =
          twin.refuse(keyed) ??
          (held !== undefined && held.entry.version > keyed.entry.version ? 'ROLLBACK' : undefined)
        if (code === undefined) twin.put(keyed.bucket, keyed.key, keyed.entry)
        else refused.push({ hash: hashTwin(keyed).subarray(0, 16), code })
      }
      return refused
    },
    snapshot() {
      cached ??= createTwinSnapshot([...stored.values()])
      return cached
    },
  }
  return twin
}

function createTwinSnapshot(entries: readonly KeyedEntry[]): Snapshot {
  const sorted = [...entries].sort(comparePositions)
  const byPosition = new Map(sorted.map((keyed) => [`${keyed.bucket}\0${keyed.key}`, keyed.entry]))
  const sums = [0n]
  for (const keyed of sorted) {
    sums.push(((sums.at(-1) ?? 0n) + BigInt(`0x${hexOf(hashTwin(keyed))}`)) % MODULUS)
  }
  const indexOf = (position: Position) => {
    let low = 0
    for (let high = sorted.length; low < high; ) {
      const middle = (low + high) >> 1
      const there = sorted[middle]
      if (there !== undefined && comparePositions(there, position) < 0) low = middle + 1
      else high = middle
    }
    return low
  }
  const bounds = (range: PositionRange) => ({
    start: range.from === undefined ? 0 : indexOf(range.from),
    end: range.to === undefined ? sorted.length : indexOf(range.to),
  })
  const live = sorted.filter((keyed) => !keyed.entry.deleted && keyed.bucket !== 'healthcheck')
  let digest: string | undefined
  return {
    head: { index: 1, timestamp: '', hash: '', prevHash: '' },
    size: sorted.length,
    get: (bucket, key) => byPosition.get(`${bucket}\0${key}`),
    getLive(bucket, key) {
      const entry = byPosition.get(`${bucket}\0${key}`)
      return entry?.deleted === true ? undefined : entry
    },
    bucketDigest(bucket) {
      const held = sorted.filter((keyed) => keyed.bucket === bucket && !keyed.entry.deleted)
      const sum = held.reduce((all, keyed) => (all + BigInt(`0x${hexOf(hashTwin(keyed))}`)) % MODULUS, 0n)
      return sum.toString(16).padStart(64, '0')
    },
    buckets: () => [...new Set(live.map((keyed) => keyed.bucket))],
    count: (bucket) => sorted.filter((keyed) => keyed.bucket === bucket && !keyed.entry.deleted).length,
    entries: (bucket) => sorted.filter((keyed) => bucket === undefined || keyed.bucket === bucket),
    entriesIn(range) {
      const { start, end } = bounds(range)
      return sorted.slice(start, end)
    },
    summarize(range) {
      const { start, end } = bounds(range)
      const sum = ((sums[end] ?? 0n) - (sums[start] ?? 0n) + MODULUS) % MODULUS
      return { count: end - start, fingerprint: Buffer.from(sum.toString(16).padStart(64, '0'), 'hex') }
    },
    positionAt(range, index) {
      const { start, end } = bounds(range)
      return start + index < end ? sorted[start + index] : undefined
    },
    digest() {
      digest ??= createHash('sha256')
        .update(live.map((keyed) => hexOf(hashTwin(keyed))).join())
        .digest('hex')
      return { entries: live.length, digest, buckets: {} }
    },
    isOwnerLive: () => true,
  }
}

export function createTwinSession(
  twin: TwinLedger,
  role: 'initiator' | 'responder',
  isKnownDifference = () => false,
): Session {
  const snapshot = twin.snapshot()
  return new Session({
    role,
    snapshot,
    hello: helloOf(snapshot),
    current: () => twin.snapshot(),
    isKnownDifference,
    isRefused: (hash) => twin.refusals.has(hexOf(hash), twin.nowMs),
    isAhead: (version) => isVersionAhead(version, twin.nowMs),
    isRefusedThere: (hashOf) => twin.refusedThere.has(hexOf(hashOf()), twin.nowMs),
  })
}

/** The session's answer, without a pause. */
export function answerOf(session: Session, refused: readonly Refusal[] = []): SyncMessage | undefined {
  const steps = session.answering(refused)
  for (;;) {
    const step = steps.next()
    if (step.done === true) return step.value
  }
}

export interface Reconciled {
  readonly messages: number
  readonly bytes: number
  readonly longestMessage: number
  readonly entriesSent: number
  readonly fault: string | undefined
}

/** Runs one session to its end, every message through its encoding. */
export function reconcileTwins(initiator: TwinLedger, responder: TwinLedger): Reconciled {
  const sides = [
    { twin: responder, session: createTwinSession(responder, 'responder') },
    { twin: initiator, session: createTwinSession(initiator, 'initiator') },
  ]
  let message: SyncMessage | undefined = sides[1]?.session.open()
  const seen = { messages: 0, bytes: 0, longestMessage: 0, entriesSent: 0 }
  for (let at = 0; message !== undefined; at++) {
    const side = sides[at % 2]
    if (side === undefined) break
    const bytes = encodeSyncMessage(message)
    seen.messages++
    seen.bytes += bytes.length
    seen.longestMessage = Math.max(seen.longestMessage, bytes.length)
    seen.entriesSent += message.entries.length
    message = undefined
    const decoded = decodeSyncMessage(bytes)
    if (decoded === undefined) throw new Error('a message did not decode')
    const { entries, refused } = side.session.receive(decoded)
    for (const { hash, code } of refused) side.twin.refusedThere.add(hexOf(hash), code, side.twin.nowMs)
    const ours = side.twin.merge(entries)
    for (const { hash, code } of ours) side.twin.refusals.add(hexOf(hash), code, side.twin.nowMs)
    message = answerOf(side.session, ours)
  }
  return { ...seen, fault: sides[0]?.session.fault ?? sides[1]?.session.fault }
}
