/** Who goes when there are too many connections. */
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Libp2p } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { type PeerId, parsePeerId, silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom, eventually } from '@mesh/testkit'
import { createLibp2p } from 'libp2p'
import { afterEach, expect, test } from 'vitest'
import { HEARD_MEMBER_MS } from '../limits.ts'
import { STRANGER_STAYS_MS } from './limits.ts'
import { Reach } from './reach.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

/** Speaks nothing, so that every connection to it is idle. */
async function createHost(maxConnections = 100): Promise<Libp2p> {
  const host = await createLibp2p({
    privateKey: await generateKeyPair('Ed25519'),
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    connectionManager: { maxConnections, inboundConnectionThreshold: 1000 },
  })
  ends.push(() => host.stop())
  return host
}

/** The membership is ours to decide here; connections are real, and nothing is dialled. */
async function createFull(libp2pLimit: number, maxConnections: number) {
  const host = await createHost(libp2pLimit)
  const clock = createManualClock(Date.now())
  const members = new Set<string>()
  const listeners = new Set<(peer: PeerId, proven: boolean) => void>()
  const dials: ConstructorParameters<typeof Reach>[1]['dials'] = {
    usable: () => [],
    dial: () => Promise.reject(new Error('not here')),
    dialWebRtc: () => Promise.reject(new Error('not here')),
    abandon: () => {},
    stop: () => {},
  }
  const reach = new Reach(
    { self: host.peerId.toString(), isConfigured: () => false, onError: () => {}, maxConnections },
    {
      host,
      dials,
      rules: { isBlocked: () => false },
      book: { addressesOf: () => [], noteFound: () => {}, noteError: () => {} },
      spoken: { speaks: () => false, onChange: () => () => {} },
      checks: { onDoubt: () => () => {} },
      membership: {
        isMember: (peer) => members.has(peer),
        onChange: (listener) => {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
        onMember: () => () => {},
      },
      clock,
      random: createSeededRandom(1),
      logger: silentLogger,
    },
  )
  ends.push(() => reach.stop())
  const prove = async (other: Libp2p, proven = true) => {
    members.add(other.peerId.toString())
    for (const listener of listeners) listener(parsePeerId(other.peerId.toString()), proven)
    await eventually(async () => {
      const tag = (await host.peerStore.get(other.peerId)).tags.get('mesh-member')
      expect(tag?.value).toBe(100)
    })
  }
  const isConnected = (other: Libp2p) => host.getConnections(other.peerId).some((c) => c.status === 'open')
  return { host, clock, prove, isConnected }
}

test("at the limit a stranger's idle connection is closed before a member's younger one", async () => {
  const { host, prove, isConnected } = await createFull(2, 100)
  const [stranger, member, another] = await Promise.all([createHost(), createHost(), createHost()])
  await host.dial(stranger.getMultiaddrs())
  await host.dial(member.getMultiaddrs())
  await prove(member)
  await prove(another)
  await host.dial(another.getMultiaddrs())
  await eventually(() => expect(isConnected(stranger)).toBe(false))
  expect([isConnected(member), isConnected(another)]).toEqual([true, true])
})

test('a member that went is worth as much for as long as it counts as one', async () => {
  const { host, prove } = await createFull(2, 100)
  const member = await createHost()
  await prove(member)
  await prove(member, false)
  await eventually(async () => {
    const tag = (await host.peerStore.get(member.peerId)).tags.get('mesh-member') as
      | { readonly expiry?: bigint }
      | undefined
    expect(Number(tag?.expiry) - Date.now()).toBeGreaterThan(HEARD_MEMBER_MS - 60_000)
    expect(Number(tag?.expiry) - Date.now()).toBeLessThanOrEqual(HEARD_MEMBER_MS)
  })
})

test('strangers that use their streams leave room for members too, when their time is over', async () => {
  const { host, clock, prove, isConnected } = await createFull(100, 3)
  const [first, second, member] = await Promise.all([createHost(), createHost(), createHost()])
  for (const stranger of [first, second]) {
    await stranger.handle('/busy/1', () => {})
    await host.dialProtocol(stranger.getMultiaddrs(), '/busy/1')
  }
  await prove(member)
  await host.dial(member.getMultiaddrs())
  expect([first, second, member].map(isConnected)).toEqual([true, true, true])
  await clock.advance(STRANGER_STAYS_MS / 2)
  expect(isConnected(first)).toBe(true)
  await clock.advance(STRANGER_STAYS_MS)
  await eventually(() => expect(isConnected(first)).toBe(false))
  expect([second, member].map(isConnected)).toEqual([true, true])
})
