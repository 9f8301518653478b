/** Relays and members that they relay for; what relaying costs is bounded. */
import { createHash, randomBytes } from 'node:crypto'
import { circuitRelayTransport } from '@libp2p/circuit-relay-v2'
import { identify } from '@libp2p/identify'
import type { Libp2p, Stream } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { tcp } from '@libp2p/tcp'
import { parsePeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { afterEach, expect, test } from 'vitest'
import type { HostComponents } from '../src/libp2p/base-host.ts'
import { writeFrame } from '../src/libp2p/frames.ts'
import { createMembership } from '../src/membership/membership.ts'
import type { P2pMember, P2pNodeInit } from '../src/node.ts'
import { createSpokenProtocols } from '../src/peers/spoken-protocols.ts'
import { RELAY_HOP, RELAY_STOP } from '../src/protocols.ts'
import { createRefusals } from '../src/refusals.ts'
import { startLoopbackNode } from './loopback-node.ts'
import { startRawHost } from './raw-peer.ts'

const network = generateNetworkConfig({}, systemRandom)
const ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

async function startNode(init: Partial<P2pNodeInit> = {}): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, ...init })
  ends.push(() => node.stop())
  await node.allTransportsReady
  return node
}

/** libp2p alone, which holds no key. */
const startStranger = (transports = [tcp(), circuitRelayTransport()]): Promise<Libp2p> =>
  startRawHost({ transports, services: { identify: identify() } })

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

/** What a relay answered is told by the library's own part only. */
interface Reserving {
  readonly reservationStore: {
    addRelay(
      relay: unknown,
      type: 'configured',
    ): Promise<{ readonly details: { readonly reservation: { readonly expire: bigint } } }>
  }
}

/** The same that proves itself and nothing more, so that a test can hold its connections. */
async function startMember(transports?: Parameters<typeof startStranger>[0]): Promise<Libp2p> {
  const libp2p = await startStranger(transports)
  const parts = { clock: systemClock, random: systemRandom, logger: silentLogger }
  const spoken = createSpokenProtocols({ libp2p })
  const refusals = createRefusals({ clock: systemClock, emit: () => {} })
  const self = parsePeerId(libp2p.peerId.toString())
  const membership = createMembership({ config: network, self }, { ...parts, libp2p, spoken, refusals })
  await membership.start()
  ends.unshift(() => membership.stop())
  return libp2p
}

test('circuits over a node keep to its limits', async () => {
  const limits = { maxBytes: 5_000_000, maxDurationMs: 2_500, maxCircuitsPerPeer: 1, reservationMs: 700_000 }
  const node = await startNode({ relayLimits: limits })
  const [served, first, second] = await Promise.all([startMember(), startMember(), startMember()])
  const addresses = node.addresses().map((text) => multiaddr(text))
  await Promise.all([served, first, second].map((host) => host.dial(addresses)))
  await eventually(() => expect(node.peers().filter(({ member }) => member)).toHaveLength(3))

  const { transportManager } = (served as unknown as { components: HostComponents }).components
  const transport = transportManager.getTransports().find((each) => 'reservationStore' in each)
  const { reservationStore } = transport as unknown as Reserving
  const relay = peerIdFromString(node.self)
  const reserved = await reservationStore.addRelay(relay, 'configured')
  const leftMs = Number(reserved.details.reservation.expire) * 1_000 - Date.now()
  expect(leftMs).toBeGreaterThan(limits.reservationMs - 10_000)
  expect(leftMs).toBeLessThan(limits.reservationMs + 1_000)

  const over = multiaddr(`/p2p/${node.self}/p2p-circuit/p2p/${served.peerId.toString()}`)
  const since = performance.now()
  const circuit = await first.dial(over)
  expect(Number(circuit.limits?.bytes)).toBeGreaterThan(limits.maxBytes - 50_000)
  expect(Number(circuit.limits?.bytes)).toBeLessThanOrEqual(limits.maxBytes)
  await expect(second.dial(over)).rejects.toThrow('PERMISSION_DENIED')
  expect(node.refusals()['relay.too_many_circuits']).toBe(1)
  await eventually(() => expect(circuit.status).not.toBe('open'))
  expect(performance.now() - since).toBeGreaterThan(limits.maxDurationMs - 500)
})

/** Both raw ends of a circuit over a node, of members that hold nothing of libp2p's own for it. */
async function openRawCircuit(node: P2pMember): Promise<readonly [Stream, Stream]> {
  const [asked, asking] = await Promise.all([startMember([tcp()]), startMember([tcp()])])
  const addresses = node.addresses().map((text) => multiaddr(text))
  await Promise.all([asked, asking].map((host) => host.dial(addresses)))
  await eventually(() => expect(node.peers().filter(({ member }) => member)).toHaveLength(2))
  const far = Promise.withResolvers<Stream>()
  await asked.handle(RELAY_STOP, async (stream) => {
    await once(stream)
    // StopMessage: type STATUS, status OK
    await writeFrame(stream, Uint8Array.of(0x08, 1, 0x20, 100))
    far.resolve(stream)
  })
  const reserving = await asked.dialProtocol(addresses, RELAY_HOP)
  // HopMessage: type RESERVE
  await writeFrame(reserving, Uint8Array.of(0x08, 0))
  await once(reserving)
  const near = await asking.dialProtocol(addresses, RELAY_HOP)
  const id = asked.peerId.toMultihash().bytes
  // type CONNECT, to that peer
  await writeFrame(near, Uint8Array.of(0x08, 1, 0x12, id.length + 2, 0x0a, id.length, ...id))
  await once(near)
  return [near, await far.promise]
}

const once = (stream: Stream) =>
  new Promise((resolve) => stream.addEventListener('message', resolve, { once: true }))

test('a circuit is read as fast as it is taken, and all that came before its end arrives', async () => {
  const [near, far] = await openRawCircuit(await startNode())
  const sent = randomBytes(8 * 1024 * 1024)
  const received = createHash('sha256')
  far.pause()
  far.addEventListener('message', ({ data }) => void received.update(data.subarray()))
  near.send(sent)
  void near.close()
  let leftBytes = 0
  const expectStill = () => {
    const before = leftBytes
    leftBytes = near.writeBufferLength
    expect(leftBytes).toBe(before)
  }
  await eventually(expectStill, { everyMs: 300 })
  // what the windows of both sides and their buffers hold
  expect(sent.length - leftBytes).toBeLessThan(3 * 1024 * 1024)
  far.resume()
  await new Promise((resolve) => far.addEventListener('end', resolve))
  expect(received.digest('hex')).toBe(createHash('sha256').update(sent).digest('hex'))
})

test.each([0, 1024 * 1024])(
  'a circuit of which one side is broken off after %d bytes ends on the other side, too',
  async (bytes) => {
    const [near, far] = await openRawCircuit(await startNode())
    far.pause()
    near.send(randomBytes(bytes))
    await eventually(() => expect(far.readBufferLength > 0).toBe(bytes > 0))
    near.abort(new Error('broken off'))
    await eventually(() => expect(far.status).toBe('reset'))
  },
)

test('no circuit joins two members that access rules keep apart', async () => {
  let mayTalk = false
  const node = await startNode({ pairs: { mayTalk: () => mayTalk, onChange: () => () => {} } })
  const [served, asking] = await Promise.all([startMember(), startMember()])
  const addresses = node.addresses().map((text) => multiaddr(text))
  await Promise.all([served, asking].map((host) => host.dial(addresses)))
  await eventually(() => expect(node.peers().filter(({ member }) => member)).toHaveLength(2))
  const { transportManager } = (served as unknown as { components: HostComponents }).components
  const transport = transportManager.getTransports().find((each) => 'reservationStore' in each)
  const { reservationStore } = transport as unknown as Reserving
  await reservationStore.addRelay(peerIdFromString(node.self), 'configured')
  const over = multiaddr(`/p2p/${node.self}/p2p-circuit/p2p/${served.peerId.toString()}`)
  await expect(asking.dial(over)).rejects.toThrow('PERMISSION_DENIED')
  expect(node.refusals()['relay.refused_by_rules']).toBe(1)
  mayTalk = true
  expect((await asking.dial(over)).status).toBe('open')
})
