/**
 * `/mesh/peers/1`: signed peer records (libp2p's envelopes) that one member passes on to another.
 *
 * message Peers { repeated bytes records = 1; uint32 stun_port = 2; string name = 3; }
 */
import { isNodeName } from '@mesh/core'
import { reader, writer } from 'protons-runtime'
import { MAX_PEER_RECORD_BYTES, MAX_RECORDS_PER_MESSAGE } from './limits.ts'

interface PeersMessage {
  /** Envelopes as their subjects signed them. */
  readonly records: readonly Uint8Array[]
  /** UDP port on which the sender answers STUN; 0 when it does not. */
  readonly stunPort: number
  /** The name of the sender, as people gave it; undefined when it does not say. Several may have the same. */
  readonly name: string | undefined
}

const RECORD_TAG = (1 << 3) | 2
const STUN_PORT_TAG = 2 << 3
const NAME_TAG = (3 << 3) | 2

export function encodePeers({ records, stunPort, name }: PeersMessage): Uint8Array {
  const out = writer()
  for (const record of records) out.uint32(RECORD_TAG).bytes(record)
  if (stunPort !== 0) out.uint32(STUN_PORT_TAG).uint32(stunPort)
  if (name !== undefined) out.uint32(NAME_TAG).string(name)
  return out.finish()
}

/** Undefined when it does not decode; records over the bounds, and names that are none, are left out. */
export function decodePeers(bytes: Uint8Array): PeersMessage | undefined {
  const records: Uint8Array[] = []
  let stunPort = 0
  let name: string | undefined
  try {
    const input = reader(bytes)
    while (input.pos < input.len) {
      const tag = input.uint32()
      if (tag === RECORD_TAG && records.length < MAX_RECORDS_PER_MESSAGE) records.push(input.bytes())
      else if (tag === STUN_PORT_TAG) stunPort = input.uint32()
      else if (tag === NAME_TAG) name = input.string()
      else input.skipType(tag & 7)
    }
  } catch {
    return undefined
  }
  return {
    records: records.filter(({ length }) => length <= MAX_PEER_RECORD_BYTES),
    stunPort: stunPort <= 65_535 ? stunPort : 0,
    name: name !== undefined && isNodeName(name) ? name : undefined,
  }
}
