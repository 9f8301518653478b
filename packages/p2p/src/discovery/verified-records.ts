import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import { BoundedMap } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { MAX_PEER_RECORDS } from './limits.ts'
import { MAX_PEER_ADDRESSES } from '../limits.ts'
import { addressesOf, isModest, recordOf } from './peer-records.ts'

/** The content of a record, as far as it is needed: one may have hundreds of addresses, of a thousand bytes each in memory. */
export interface ToldRecord {
  readonly subject: string
  /** The first of its addresses; some lead nowhere from here. */
  readonly addresses: readonly Multiaddr[]
  /** A digest of all of them. */
  readonly says: string
}

/** Records that others passed on and that verified: several members tell the same one, and each check costs. */
export class VerifiedRecords {
  readonly #bySignature = new BoundedMap<string, VerifiedRecord>(MAX_PEER_RECORDS)

  /** The record of an envelope that was verified before. */
  known(envelope: Uint8Array): ToldRecord | undefined {
    const verified = this.#bySignature.get(endOf(envelope))
    return verified !== undefined && areEqual(verified.envelope, envelope) ? verified.record : undefined
  }

  /** Opens an envelope; undefined when its subject did not sign it. */
  async verify(envelope: Uint8Array): Promise<ToldRecord | undefined> {
    if (!isModest(envelope)) return undefined
    const opened = await verifyRecord(envelope)
    if (opened === undefined) return undefined
    const record = toldRecord(opened)
    // the message that it came in holds others
    this.#bySignature.set(endOf(envelope), { envelope: envelope.slice(), record })
    return record
  }
}

/** Reads what somebody passed on, whoever signed it; undefined when it does not decode. */
export function claimOf(envelope: Uint8Array): ToldRecord | undefined {
  try {
    return isModest(envelope) ? toldRecord(recordOf(envelope)) : undefined
  } catch {
    return undefined
  }
}

/** Keeps what is needed of a record. */
function toldRecord(record: PeerRecord): ToldRecord {
  const addresses = record.multiaddrs.slice(0, 2 * MAX_PEER_ADDRESSES)
  return { subject: record.peerId.toString(), addresses, says: addressesOf(record) }
}

interface VerifiedRecord {
  readonly envelope: Uint8Array
  readonly record: ToldRecord
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  if (a.length !== b.length) return false
  // without a call for each byte: thousands of known records come a second
  for (let at = 0; at < a.length; at++) if (a[at] !== b[at]) return false
  return true
}

/** The signature, which stands at the end. */
const endOf = (envelope: Uint8Array) => latin1.decode(envelope.subarray(-64))

const latin1 = new TextDecoder('latin1')

/** Opens a record that somebody passed on; undefined when its subject did not sign it. */
async function verifyRecord(envelope: Uint8Array): Promise<PeerRecord | undefined> {
  try {
    const opened = await RecordEnvelope.openAndCertify(envelope, PeerRecord.DOMAIN)
    const record = PeerRecord.createFromProtobuf(opened.payload)
    return record.peerId.publicKey?.equals(opened.publicKey) === true ? record : undefined
  } catch {
    return undefined
  }
}
