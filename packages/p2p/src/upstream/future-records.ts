/**
 * A record of a peer's addresses whose number is a time of day in the future, as one that was signed while that peer's clock
 * was ahead, gives way to the next one. Identify 4.1.14 takes none with a smaller number: where a clock had been a day ahead
 * nobody would learn that peer's new addresses for a day.
 * Report to send to libp2p/js-libp2p: 'identify keeps a stored peer record whose seq is in the future over every later one.'
 *
 * Wraps `get` of the peer store, by which the library reads what it compares with. Without it `future-records.test.ts` fails.
 */
import type { PeerStore } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { type Reader, reader } from 'protons-runtime'

/** How far clocks may differ, in ms, as for entries of the ledger. */
const MAX_FUTURE_MS = 120_000

/** Leaves out what is from the future where a peer is read. */
export function leaveOutFutureRecords(peerStore: PeerStore, clock: Clock): void {
  const get = peerStore.get.bind(peerStore)
  peerStore.get = async (id, options) => {
    const { peerRecordEnvelope, ...peer } = await get(id, options)
    const isKept = peerRecordEnvelope !== undefined && !isFromFuture(peerRecordEnvelope, clock.now())
    return isKept ? { ...peer, peerRecordEnvelope } : peer
  }
}

/** False for what is no record. */
export function isFromFuture(envelope: Uint8Array, nowMs: number): boolean {
  try {
    // the record stands in the third field, and its number in the second field of that
    const record = fieldOf(envelope, 3)?.bytes()
    const number = record && fieldOf(record, 2)?.uint64()
    return number !== undefined && Number(number) > nowMs + MAX_FUTURE_MS
  } catch {
    return false
  }
}

/** A reader that stands before the content of the first field with that number. */
function fieldOf(message: Uint8Array, field: number): Reader | undefined {
  const input = reader(message)
  while (input.pos < input.len) {
    const tag = input.uint32()
    if (tag >>> 3 === field) return input
    input.skipType(tag & 7)
  }
  return undefined
}
