/** The signed peer records of connected peers, kept to be passed on, and what others sent of theirs. */
import { sha256 } from '@noble/hashes/sha2.js'
import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import { MAX_PEER_RECORDS, MAX_PEER_RECORD_BYTES, MAX_PEER_RECORD_FIELDS } from './limits.ts'
import { hasShape } from '../message-shape.ts'

/** A record as its subject signed it. */
interface KnownRecord {
  readonly seq: bigint
  readonly envelope: Uint8Array
  /** A digest of the addresses that it names, which tells news from a record that was only signed again. */
  readonly says: string
}

export class PeerRecords {
  readonly #bySubject = new Map<string, KnownRecord>()

  /**
   * Keeps a record that is newer than the one known, or takes the place of one from the future; gives true when there is
   * something to pass on.
   */
  keep(subject: string, envelope: Uint8Array, nowMs: number): boolean {
    if (!isModest(envelope)) return false
    const record = recordOf(envelope)
    const known = this.#bySubject.get(subject)
    const isReplaced =
      known !== undefined && !isFromFuture(record.seqNumber, nowMs) && isFromFuture(known.seq, nowMs)
    if (known !== undefined && !isReplaced && known.seq >= record.seqNumber) return false
    if (known === undefined && this.#bySubject.size >= MAX_PEER_RECORDS) return false
    this.#bySubject.set(subject, { seq: record.seqNumber, envelope, says: addressesOf(record) })
    return true
  }

  has(subject: string): boolean {
    return this.#bySubject.has(subject)
  }

  /** Gives a digest of the addresses that the subject told. */
  saysOf(subject: string): string | undefined {
    return this.#bySubject.get(subject)?.says
  }

  forget(subject: string): void {
    this.#bySubject.delete(subject)
  }

  entries(): Iterable<[string, KnownRecord]> {
    return this.#bySubject
  }

  clear(): void {
    this.#bySubject.clear()
  }
}

/** The record stands in the third field of an envelope, and its addresses in the third of that. */
const SHAPE = { shape: { 3: { shape: {} } }, maxFields: MAX_PEER_RECORD_FIELDS }

/** True for what may be read: one of hundreds of addresses takes 15 ms each time. */
export function isModest(envelope: Uint8Array): boolean {
  return envelope.length <= MAX_PEER_RECORD_BYTES && hasShape(envelope, SHAPE)
}

/** Reads a record, whoever signed it. @throws when it does not decode */
export function recordOf(envelope: Uint8Array): PeerRecord {
  return PeerRecord.createFromProtobuf(RecordEnvelope.createFromProtobuf(envelope).payload)
}

/**
 * Gives a digest of the record's addresses, to compare it with what is known. The addresses of one record may have ten thousand
 * characters, and the node remembers what each peer knows.
 */
export function addressesOf(record: PeerRecord): string {
  return latin1.decode(sha256(utf8.encode(record.multiaddrs.join(' '))))
}

const latin1 = new TextDecoder('latin1')
const utf8 = new TextEncoder()

/** How far clocks may differ, in ms. */
const MAX_FUTURE_MS = 120_000

/** True for the number of a record, a time of day in ms, that a clock which was ahead has given. */
const isFromFuture = (seq: bigint, nowMs: number): boolean => Number(seq) > nowMs + MAX_FUTURE_MS
