/** The signed peer records of connected peers, kept to be passed on, and what others sent of theirs. */
import { sha256 } from '@noble/hashes/sha2.js'
import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import type { Multiaddr } from '@multiformats/multiaddr'
import { MAX_PEER_ADDRESSES } from '../limits.ts'
import { MAX_PEER_RECORDS, MAX_PEER_RECORD_BYTES, MAX_PEER_RECORD_FIELDS } from './limits.ts'
import { hasShape } from '../message-shape.ts'

/** A record as its subject signed it. */
interface KnownRecord extends Pick<ToldRecord, 'seq' | 'says'> {
  readonly envelope: Uint8Array
}

export class PeerRecords {
  readonly #bySubject = new Map<string, KnownRecord>()

  /** Keeps a newer record, or one that replaces a record from the future. True: there is something to pass on. */
  keep(subject: string, envelope: Uint8Array, nowMs: number): boolean {
    const record = readRecord(envelope)
    if (record === undefined) return false
    const { seq, says } = record
    const known = this.#bySubject.get(subject)
    const isReplaced = known !== undefined && !isFromFuture(seq, nowMs) && isFromFuture(known.seq, nowMs)
    if (known !== undefined && !isReplaced && known.seq >= seq) return false
    if (known === undefined && this.#bySubject.size >= MAX_PEER_RECORDS) return false
    this.#bySubject.set(subject, { seq, envelope, says })
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
function isModest(envelope: Uint8Array): boolean {
  return envelope.length <= MAX_PEER_RECORD_BYTES && hasShape(envelope, SHAPE)
}

/** The needed part of a record: one may have hundreds of addresses, of a thousand bytes each in memory. */
export interface ToldRecord {
  readonly subject: string
  readonly seq: bigint
  /** The first of its addresses; some lead nowhere from here. */
  readonly addresses: readonly Multiaddr[]
  /** A digest of all of them, which tells news from a record that was only signed again. */
  readonly says: string
}

/** Reads a record of any signer; undefined when it does not decode. */
export function readRecord(envelope: Uint8Array): ToldRecord | undefined {
  try {
    if (!isModest(envelope)) return undefined
    const { payload } = RecordEnvelope.createFromProtobuf(envelope)
    const { peerId, seqNumber: seq, multiaddrs } = PeerRecord.createFromProtobuf(payload)
    const says = latin1.decode(sha256(utf8.encode(multiaddrs.join(' '))))
    return { subject: peerId.toString(), seq, addresses: multiaddrs.slice(0, 2 * MAX_PEER_ADDRESSES), says }
  } catch {
    return undefined
  }
}

/** True for a record that its subject signed. */
export async function isSigned(envelope: Uint8Array): Promise<boolean> {
  try {
    const { payload, publicKey } = await RecordEnvelope.openAndCertify(envelope, PeerRecord.DOMAIN)
    return PeerRecord.createFromProtobuf(payload).peerId.publicKey?.equals(publicKey) === true
  } catch {
    return false
  }
}

const latin1 = new TextDecoder('latin1')
const utf8 = new TextEncoder()

/** How far clocks may differ, in ms. */
const MAX_FUTURE_MS = 120_000

/** True for the number of a record, a time of day in ms, that a clock which was ahead has given. */
const isFromFuture = (seq: bigint, nowMs: number): boolean => Number(seq) > nowMs + MAX_FUTURE_MS
