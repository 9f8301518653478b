import { PeerRecord, RecordEnvelope } from '@libp2p/peer-record'
import { BoundedMap } from '@mesh/core'
import { MAX_PEER_RECORD_BYTES, MAX_PEER_RECORDS } from '../limits.ts'

/** Records that others passed on and that verified: several members tell the same one, and each check costs. */
export class VerifiedRecords {
  readonly #bySignature = new BoundedMap<string, VerifiedRecord>(MAX_PEER_RECORDS)

  /** The record of an envelope that was verified before. */
  known(envelope: Uint8Array): PeerRecord | undefined {
    const verified = this.#bySignature.get(endOf(envelope))
    return verified !== undefined && areEqual(verified.envelope, envelope) ? verified.record : undefined
  }

  /** Opens an envelope; undefined when its subject did not sign it. */
  async verify(envelope: Uint8Array): Promise<PeerRecord | undefined> {
    if (envelope.length > MAX_PEER_RECORD_BYTES) return undefined
    const record = await verifyRecord(envelope)
    if (record !== undefined) this.#bySignature.set(endOf(envelope), { envelope, record })
    return record
  }
}

interface VerifiedRecord {
  readonly envelope: Uint8Array
  readonly record: PeerRecord
}

function areEqual(a: Uint8Array, b: Uint8Array): boolean {
  return a.length === b.length && a.every((byte, at) => byte === b[at])
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
