/** Relays and members that they relay for; what relaying costs is bounded. */
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify } from '@libp2p/identify'
import type { Libp2p } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { afterEach, expect, test } from 'vitest'
import { writeFrame } from '../src/channels/frames.ts'
import { RELAY_HOP, RELAY_STOP } from '../src/host/connection-gate.ts'
import { generateNetworkConfig } from '../src/index.ts'
import { createP2pNode, type MeshNode, type P2pNodeInit } from '../src/node.ts'

const network = generateNetworkConfig({}, systemRandom)
const ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

async function startNode(init: Partial<P2pNodeInit> = {}): Promise<MeshNode> {
  const node = await createP2pNode(
    {
      network,
      identity: systemRandom.bytes(32),
      listen: ['/ip4/127.0.0.1/tcp/0'],
      private: true,
      switches: { mdns: false, dht: false, ws: false, webrtcDirect: false, webrtc: false },
      ...init,
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  ends.push(() => node.stop())
  await node.allTransportsReady
  return node
}

/** libp2p alone, which holds no key. */
async function startStranger(): Promise<Libp2p> {
  const host = await createLibp2p({
    privateKey: await generateKeyPair('Ed25519'),
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp(), circuitRelayTransport()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    services: { identify: identify() },
  })
  ends.push(() => host.stop())
  return host
}

test("a stranger's circuit is refused, and nobody asks the stranger to relay", async () => {
  const node = await startNode()
  const stranger = await startStranger()
  let asked = 0
  await stranger.handle(RELAY_HOP, (stream) => {
    asked++
    stream.abort(new Error('counted'))
  })
  const stream = await stranger.dialProtocol(
    node.addresses().map((text) => multiaddr(text)),
    RELAY_STOP,
  )
  // StopMessage: type CONNECT, from the stranger itself
  const id = stranger.peerId.toMultihash().bytes
  await writeFrame(stream, Uint8Array.of(0x08, 0, 0x12, id.length + 2, 0x0a, id.length, ...id))
  await eventually(() => expect(node.refusals()['relay.not_member']).toBe(1))
  expect(asked).toBe(0)
  expect(node.addresses().filter((address) => address.includes('p2p-circuit'))).toEqual([])
})
