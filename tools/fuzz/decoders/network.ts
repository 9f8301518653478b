/** What peers send below and beside the ledger: seals, proofs, discovery, bulk streams. */
import { parseIp, parsePeerId, systemRandom } from '@mesh/core'
import { createNetworkSecrets, createSealer, generateNetworkConfig, SEAL_NONCE_BYTES } from '@mesh/network'
import { nativeSealCipher } from '@mesh/network/node'
import { decodeBulkMessage, encodeBulkMessage } from '../../../packages/p2p/src/bulk/bulk-message.ts'
import { pskIdentityOf } from '../../../packages/p2p/src/bulk/client-hello.ts'
import { FrameReader } from '../../../packages/p2p/src/bulk/frames.ts'
import { parseBootstrapPeers } from '../../../packages/p2p/src/discovery/bootstrap.ts'
import { buildAnswer, buildQuery, readPacket } from '../../../packages/p2p/src/discovery/mdns-records.ts'
import { decodePeers, encodePeers } from '../../../packages/p2p/src/discovery/peers-message.ts'
import {
  decodeEnvelope,
  decodePublicEnvelope,
  encodeEnvelope,
  encodePublicEnvelope,
} from '../../../packages/p2p/src/gossip/envelope.ts'
import {
  decodeHandshakeMessage,
  encodeHandshakeMessage,
} from '../../../packages/p2p/src/membership/handshake-message.ts'
import { decodePaths, encodePaths } from '../../../packages/p2p/src/path-reports/paths-message.ts'
import { parseRoutes } from '../../../packages/port-mapping/src/local-network/default-router.ts'
import {
  decodePortControl,
  encodeNatPmpMap,
  encodePcpMap,
} from '../../../packages/port-mapping/src/port-control/port-control-message.ts'
import { Decoder as FrameDecoder } from '../../../packages/p2p/src/muxer/decode.ts'
import { decodeHeader, encodeHeader, FrameError } from '../../../packages/p2p/src/muxer/frame.ts'
import { answerStun } from '../../../packages/p2p/src/nat/stun-message.ts'
import {
  controlIn,
  decodeAddress,
  decodeFault,
  decodePort,
  locationIn,
} from '../../../packages/port-mapping/src/upnp/upnp-messages.ts'
import { parseXml } from '../../../packages/port-mapping/src/upnp/upnp-xml.ts'
import { type Decoder, textOf, textSeeds } from '../decoder.ts'

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
const PATH = {
  peer: parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'),
  path: 'direct',
  relay: undefined,
  rttMs: 1.5,
  bytesPerSecond: 300,
} as const
/** A binding request without attributes. */
const STUN_REQUEST = Buffer.from('000100002112a442000102030405060708090a0b', 'hex')
const PCP_NONCE = key.subarray(0, 12)
const MAPPING = { port: 4_700, external: 4_701, lifetimeS: 7_200 }
/** A request as a router sends it back: the bit that makes it an answer, and success. */
const answered = (bytes: Uint8Array) => bytes.with(1, (bytes[1] ?? 0) | 0x80)
/** The beginning of a ClientHello that names a pre-shared key. */
const CLIENT_HELLO = Buffer.concat([
  Buffer.from('16030100600100005c0303', 'hex'),
  new Uint8Array(32),
  Buffer.from('00000213010100', 'hex'),
  Buffer.from('002f0029002b00260020', 'hex'),
  Buffer.alloc(32, 'a'),
  new Uint8Array(8),
])

const ROUTER = '192.168.1.1'
const ROUTER_AT = new URL(`http://${ROUTER}:5000/d.xml`)
const WAN = 'urn:schemas-upnp-org:service:WANIPConnection'
const soap = (inner: string) =>
  `<?xml version="1.0"?><s:Envelope xmlns:s="s"><s:Body><u:R xmlns:u="u">${inner}</u:R></s:Body></s:Envelope>`

/** What a router answers is read, or refused in words of this node. */
function readOfRouter<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (error instanceof Error && error.message.startsWith('the router ')) return undefined
    throw error
  }
}

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
    name: 'paths',
    form: 'protobuf',
    seeds: [encodePaths({ paths: [PATH, { ...PATH, path: 'relayed', relay: PATH.peer }], more: 3 })],
    decode: decodePaths,
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
    name: 'port-control',
    form: 'bytes',
    seeds: [
      answered(encodePcpMap(MAPPING, { own: parseIp('192.168.1.2'), nonce: PCP_NONCE })),
      Buffer.from('0081000000000e10125c125d00001c20', 'hex'),
      Buffer.from('0080000000000e10c0000201', 'hex'),
      answered(encodeNatPmpMap(MAPPING)),
    ],
    decode: (bytes) => decodePortControl(bytes, PCP_NONCE),
  },
  {
    name: 'upnp-search',
    form: 'text',
    seeds: textSeeds(
      `HTTP/1.1 200 OK\r\nST: urn:schemas-upnp-org:device:InternetGatewayDevice:2\r\nLOCATION: ${ROUTER_AT}\r\n\r\n`,
    ),
    decode: (bytes) => locationIn(bytes, ROUTER),
  },
  {
    name: 'upnp-answer',
    form: 'text',
    seeds: textSeeds(
      `<root><device><serviceList><service><serviceType>${WAN}:1</serviceType><controlURL>/c</controlURL></service></serviceList></device></root>`,
      soap('<NewReservedPort>4700</NewReservedPort>'),
      soap('<NewExternalIPAddress>203.0.113.9</NewExternalIPAddress>'),
      soap('<UPnPError><errorCode>718</errorCode></UPnPError>'),
    ),
    decode(bytes) {
      const text = textOf(bytes)
      const read = [parseXml(text), controlIn(text, ROUTER_AT), decodeFault(text)]
      return [...read, readOfRouter(() => decodePort(text)), readOfRouter(() => decodeAddress(text))]
    },
  },
  {
    name: 'default-router',
    form: 'text',
    seeds: textSeeds('Iface\tDestination\neth0\t00000000\t0102A8C0\t0003\t0\t0\t100\t00000000\t0\t0\t0\n'),
    decode: (bytes) => parseRoutes(textOf(bytes)),
  },
  {
    name: 'bootstrap-peers',
    form: 'text',
    seeds: textSeeds(address, `/dns4/example.org/tcp/4001/ws/p2p/${address.slice(-52)}`),
    mayRefuse: true,
    decode: (bytes) => parseBootstrapPeers([textOf(bytes)]),
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
    name: 'muxer-frames',
    form: 'bytes',
    seeds: [
      Buffer.concat([encodeHeader({ type: 0, flags: 1, streamId: 1, length: 5 }), Buffer.from('hello')]),
      encodeHeader({ type: 1, flags: 0, streamId: 1, length: 2 ** 18 }),
    ],
    decode(bytes) {
      const frames = new FrameDecoder()
      try {
        if (bytes.length >= 12) decodeHeader(bytes, 0)
        let taken = 0
        for (let at = 0; at < bytes.length; at += 7) {
          frames.add([bytes.subarray(at, at + 7)])
          for (let part = frames.next(); part !== undefined; part = frames.next()) taken += part.data.length
        }
        if (taken > bytes.length) throw new RangeError('more came out than went in')
      } catch (error) {
        if (!(error instanceof FrameError)) throw error
      }
    },
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
