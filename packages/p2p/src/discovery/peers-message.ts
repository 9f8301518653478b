/**
 * `/mesh/peers/1`: signed peer records (libp2p's envelopes) that one member passes on to another.
 *
 * message Peers { repeated bytes records = 1; uint32 stun_port = 2; }
 */
import { reader, writer } from 'protons-runtime'
import { MAX_PEER_RECORD_BYTES, MAX_RECORDS_PER_MESSAGE } from '../limits.ts'

export interface PeersMessage {
  /** Envelopes as their subjects signed them. */
  readonly records: readonly Uint8Array[]
  /** UDP port on which the sender answers STUN; 0 when it does not. */
  readonly stunPort: number
}

const RECORD_TAG = (1 << 3) | 2
const STUN_PORT_TAG = 2 << 3

export function encodePeers({ records, stunPort }: PeersMessage): Uint8Array {
  const out = writer()
  for (const record of records) out.uint32(RECORD_TAG).bytes(record)
  if (stunPort !== 0) out.uint32(STUN_PORT_TAG).uint32(stunPort)
  return out.finish()
}

/** Undefined when it does not decode; records over the bounds are left out. */
export function decodePeers(bytes: Uint8Array): PeersMessage | undefined {
  const records: Uint8Array[] = []
  let stunPort = 0
  try {
    const input = reader(bytes)
    while (input.pos < input.len) {
      const tag = input.uint32()
      if (tag === RECORD_TAG && records.length < MAX_RECORDS_PER_MESSAGE) records.push(input.bytes())
      else if (tag === STUN_PORT_TAG) stunPort = input.uint32()
      else input.skipType(tag & 7)
    }
  } catch {
    return undefined
  }
  return {
    records: records.filter(({ length }) => length <= MAX_PEER_RECORD_BYTES),
    stunPort: stunPort <= 65_535 ? stunPort : 0,
  }
}
