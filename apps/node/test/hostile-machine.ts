/**
 * A member of the network, with a machine of its own, whose engine is hostile: sends what is no frame, floods, or reads
 * nothing. Run as a process of its own: TOKEN, BOOTSTRAP and MODE (`garbage`, `frames`, `deaf`) by the environment.
 */
import { createPrivateKey, createPublicKey, randomBytes } from 'node:crypto'
import {
  parseCidr,
  type PeerId,
  silentLogger,
  systemClock,
  systemRandom,
  tryParseAddressInRange,
} from '@mesh/core'
import type { Engine, EngineInit } from '@mesh/engine'
import { createLedger } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { parseToken } from '@mesh/network'
import { createP2pNode } from '@mesh/p2p/node'
import { createReplicator } from '@mesh/replication'
import { createVpn } from '@mesh/vpn'
import { peerPorts } from '../src/compose/peer-ports.ts'

const ADDRESS = '10.1.0.66/24'
/** All that it sends, so that a run ends. */
const BUDGET_BYTES = 64 * 1024 * 1024

const { TOKEN = '', BOOTSTRAP = '', MODE = '' } = process.env
const config = parseToken(TOKEN)
const surroundings = { clock: systemClock, random: systemRandom, logger: silentLogger }
const identity = randomBytes(32)
const ledger = createLedger(
  {},
  { signer: createNodeSigner(identity), clock: systemClock, logger: silentLogger },
)
const p2p = await createP2pNode(
  {
    network: config,
    identity,
    bootstrapPeers: [BOOTSTRAP],
    private: true,
    blockedRanges: [parseCidr('10.1.0.0/24')],
    switches: { mdns: false, dht: false, webrtc: false, webrtcDirect: false },
  },
  surroundings,
)
const replicator = createReplicator({}, { ledger, topic: p2p.topic, channels: p2p.channels, ...surroundings })
await replicator.start()
const address = tryParseAddressInRange(ADDRESS)
const vpn = createVpn(
  {
    interface: 'none',
    addresses: address === undefined ? [] : [address],
    secret: { key: config.crypto.key, room: config.room },
    machine: { Hostname: 'hostile', OS: 'linux', Arch: 'amd64', Version: '0' },
  },
  {
    ledger,
    network: {
      ...peerPorts(p2p),
      channels: p2p.channels,
      blockRanges() {},
      ping: (peer, signal) => p2p.ping(peer, signal),
    },
    host: {
      networks: () => [],
      routes: () => [],
      remoteAddresses: () => [],
      forwards: () => undefined,
      hasIpv6: () => true,
    },
    openEngine: hostileEngine,
    openLeaseFile: () => ({ read: () => undefined, write() {} }),
    announce: (bucket, key, valueText) => replicator.keepAnnounced(bucket, key, valueText),
    initialSync: () => replicator.ready(),
    clock: systemClock,
    random: systemRandom,
    log: silentLogger,
  },
)
await vpn.start()
process.stdout.write(`${JSON.stringify({ id: p2p.self })}\n`)

/** Has something for every peer at any time, and takes nothing, by its mode. */
function hostileEngine({ privateKey, onEvent }: EngineInit): Engine {
  let left = BUDGET_BYTES
  const told = new Set<PeerId>()
  return {
    publicKey: publicKeyOf(privateKey),
    interface: { name: 'none', mtu: 1280, offload: false, offloadUdp: false },
    setTable({ peers }) {
      for (const { peer, tunnel } of peers) {
        if (tunnel.kind !== 'wireguard' || told.has(peer)) continue
        told.add(peer)
        setImmediate(() => onEvent({ type: 'readable', peer }))
      }
    },
    take() {
      if (MODE === 'deaf' || left <= 0) return undefined
      left -= 60_000
      return MODE === 'garbage' ? randomBytes(60_000) : framed(randomBytes(60_000))
    },
    inject: () => MODE !== 'deaf',
    stats: () => ({
      device: { packetsIn: 0, bytesIn: 0, packetsOut: 0, bytesOut: 0, drops: {} },
      peers: new Map(),
      guests: new Map(),
      eventsDropped: 0,
    }),
    takeRefusals: () => [],
    ruleHits: () => [],
    flowCount: 0,
    setAddresses() {},
    setRoutes() {},
    restore: () => ({ restored: [], failed: [] }),
    injectPackets() {},
    restart() {},
    retryHandshake() {},
    udpPort: undefined,
    sendDatagram: () => false,
    openSocket: () => undefined,
    closeSocket() {},
    expectProbes() {},
    forgetProbes() {},
    takeDatagrams: () => [],
    activePeers: () => [],
    close() {},
  }
}

/** Right frames, of 1000 bytes that look like sealed packets and handshakes. */
function framed(bytes: Uint8Array): Uint8Array {
  const view = new DataView(bytes.buffer, bytes.byteOffset)
  for (let at = 0; at + 1002 <= bytes.length; at += 1002) {
    view.setUint16(at, 1000)
    view.setUint32(at + 2, 0x04000000)
  }
  return bytes.subarray(0, Math.floor(bytes.length / 1002) * 1002)
}

function publicKeyOf(privateKey: Uint8Array): Uint8Array {
  const pkcs8 = Buffer.concat([Buffer.from('302e020100300506032b656e04220420', 'hex'), privateKey])
  const key = createPrivateKey({ key: pkcs8, format: 'der', type: 'pkcs8' })
  return Uint8Array.from(createPublicKey(key).export({ format: 'der', type: 'spki' }).subarray(-32))
}
