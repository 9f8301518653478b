/** What peers send below and beside the ledger: seals, proofs, discovery, bulk streams. */
import { systemRandom } from '@mesh/core'
import { createNetworkSecrets, createSealer, generateNetworkConfig, SEAL_NONCE_BYTES } from '@mesh/network'
import { nativeSealCipher } from '@mesh/network/node'
import { decodeBulkMessage, encodeBulkMessage } from '../../../../packages/p2p/src/bulk/bulk-message.ts'
import { pskIdentityOf } from '../../../../packages/p2p/src/bulk/client-hello.ts'
import { FrameReader } from '../../../../packages/p2p/src/bulk/frames.ts'
import { buildAnswer, buildQuery, readPacket } from '../../../../packages/p2p/src/discovery/mdns-records.ts'
import { decodePeers, encodePeers } from '../../../../packages/p2p/src/discovery/peers-message.ts'
import {
  decodeEnvelope,
  decodePublicEnvelope,
  encodeEnvelope,
  encodePublicEnvelope,
} from '../../../../packages/p2p/src/gossip/envelope.ts'
import {
  decodeHandshakeMessage,
  encodeHandshakeMessage,
} from '../../../../packages/p2p/src/membership/handshake-message.ts'
import { answerStun } from '../../../../packages/p2p/src/nat/stun-message.ts'
import type { Decoder } from '../decoder.ts'

const key = new Uint8Array(32).fill(7)
const config = generateNetworkConfig({ intervalS: 360 }, systemRandom)
const sealer = createSealer(createNetworkSecrets(config), nativeSealCipher)
const NOW_MS = 1_790_000_000_000
const sealed = sealer.seal(
  Buffer.from('{"Index":0}'),
  createNetworkSecrets(config).windowAt(NOW_MS),
  new Uint8Array(SEAL_NONCE_BYTES),
)
const MDNS = 'abcDEF'
const address = '/ip4/192.0.2.1/tcp/4001/p2p/12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
/** A binding request without attributes. */
const STUN_REQUEST = Buffer.from('000100002112a442000102030405060708090a0b', 'hex')
/** The beginning of a ClientHello that names a pre-shared key. */
const CLIENT_HELLO = Buffer.concat([
  Buffer.from('16030100600100005c0303', 'hex'),
  new Uint8Array(32),
  Buffer.from('00000213010100', 'hex'),
  Buffer.from('002f0029002b00260020', 'hex'),
  Buffer.alloc(32, 'a'),
  new Uint8Array(8),
])

export const NETWORK_DECODERS: readonly Decoder[] = [
  {
    name: 'gossip-envelope',
    form: 'protobuf',
    seeds: [encodeEnvelope(sealed), encodePublicEnvelope(sealed, 'signature')],
    decode(bytes) {
      const hex = decodeEnvelope(bytes) ?? decodePublicEnvelope(bytes)?.sealed
      return hex === undefined ? undefined : sealer.unseal(hex, NOW_MS)
    },
  },
  {
    name: 'membership-proof',
    form: 'protobuf',
    seeds: [encodeHandshakeMessage({ nonce: key, proof: key })],
    decode: decodeHandshakeMessage,
  },
  {
    name: 'peer-exchange',
    form: 'protobuf',
    seeds: [encodePeers({ records: [key, key], stunPort: 3478, name: 'nas' })],
    decode: decodePeers,
  },
  {
    name: 'mdns',
    form: 'bytes',
    seeds: [
      buildQuery(MDNS),
      buildAnswer({
        service: MDNS,
        instance: 'abcdef',
        addresses: [address],
        host: { family: 4, address: '192.0.2.1' },
      }),
    ],
    decode: (bytes) => readPacket(bytes, MDNS),
  },
  {
    name: 'stun',
    form: 'bytes',
    seeds: [STUN_REQUEST],
    decode: (bytes) => answerStun(bytes, { address: Uint8Array.of(192, 0, 2, 1), port: 9 }),
  },
  {
    name: 'bulk-control',
    form: 'protobuf',
    seeds: [
      encodeBulkMessage({ type: 'offer', identity: key, key, ports: [4001, 4002] }),
      encodeBulkMessage({ type: 'dial', count: 3 }),
    ],
    decode: decodeBulkMessage,
  },
  {
    name: 'bulk-frames',
    form: 'bytes',
    seeds: [new Uint8Array(40), Uint8Array.of(0, 0, 4, 1, 2, 3, 4, 1, 0, 2, 9, 9)],
    decode(bytes) {
      const reader = new FrameReader({ mayRead: () => true, onData: () => {}, onControl: () => {} })
      for (let at = 0; at < bytes.length; at += 7) {
        if (reader.read(bytes.subarray(at, at + 7)) === undefined) return undefined
      }
      return undefined
    },
  },
  { name: 'tls-client-hello', form: 'bytes', seeds: [CLIENT_HELLO], decode: pskIdentityOf },
]
