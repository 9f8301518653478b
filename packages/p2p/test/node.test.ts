import { createConnection } from 'node:net'
import { type Cidr, parseCidr, parsePeerId, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, describe, expect, test } from 'vitest'
import type { P2pMember, P2pNodeInit } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []

async function start(init: Partial<P2pNodeInit> = {}): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, ...init })
  nodes.push(node)
  return node
}

const connected = (node: P2pMember, other: P2pMember) => node.peer(other.self)?.connected === true

afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

describe('finding each other', () => {
  test('two that know only a third find each other through it', async () => {
    const third = await start()
    const [a, b] = await Promise.all([
      start({ bootstrapPeers: third.addresses() }),
      start({ bootstrapPeers: third.addresses() }),
    ])
    await eventually(() => {
      expect(a.peer(b.self)).toMatchObject({
        connected: true,
        member: true,
        path: 'direct',
        transport: 'tcp',
      })
      expect(b.peer(a.self)).toMatchObject({ connected: true, member: true })
      expect(a.peer(b.self)?.rttMs).toBeLessThan(1_000)
    })
    const methods = [...a.discovery(), ...b.discovery()].filter(({ method }) => method === 'members')
    expect(methods.some(({ found = 0 }) => found > 0)).toBe(true)
    expect(methods.map(({ enabled, lastError }) => [enabled, lastError])).toEqual([
      [true, undefined],
      [true, undefined],
    ])
    // what only helps to be reached counts none
    expect(a.discovery()).toContainEqual({
      method: 'relay',
      enabled: true,
      found: undefined,
      lastError: undefined,
    })
    expect(await a.ping(b.self)).toBeLessThan(1_000)
  })

  test('a member that went is found again when it comes back', async () => {
    const identity = systemRandom.bytes(32)
    const a = await start()
    const b = await start({ identity, bootstrapPeers: a.addresses() })
    await eventually(() => expect(a.peer(b.self)).toMatchObject({ connected: true, member: true }))
    const [address = ''] = b.addresses()
    await b.stop()
    await eventually(() => expect(a.peer(b.self)?.connected).toBe(false))
    await eventually(() => expect(a.peer(b.self)?.lastError).toContain('nothing listens on that port'))
    await start({ identity, listen: [address.split('/p2p/')[0] ?? ''] })
    await eventually(() => expect(connected(a, b)).toBe(true), { withinMs: 15_000 })
  })

  test('members of a private network meet in a DHT of their own', async () => {
    const init = { peerExchange: false, switches: { dht: true } }
    const third = await start(init)
    const [a, b] = await Promise.all([
      start({ ...init, bootstrapPeers: third.addresses() }),
      start({ ...init, bootstrapPeers: third.addresses() }),
    ])
    await eventually(() => expect(connected(a, b)).toBe(true), { withinMs: 25_000 })
    // the DHT itself may have dialled first, on its way to the answer
    await eventually(
      () => {
        const methods = [...a.discovery(), ...b.discovery()].filter(({ method }) => method === 'dht')
        expect(methods.some(({ found = 0 }) => found > 0)).toBe(true)
      },
      { withinMs: 25_000 },
    )
  })

  test('a node without the key stays a stranger', async () => {
    const a = await start()
    const stranger = await start({
      network: generateNetworkConfig({}, systemRandom),
      bootstrapPeers: a.addresses(),
    })
    await eventually(() => expect(connected(a, stranger)).toBe(true))
    await eventually(() => expect(a.refusals()['member.bad_proof'] ?? 0).toBeGreaterThan(0))
    expect(a.peer(stranger.self)?.member).toBe(false)
    expect(a.channels.peersWith('/mesh/peers/1')).toEqual([])
  })

  test.each([
    ['/ip4/127.0.0.1/tcp/4001', 'an address that ends with /p2p/ and the peer id'],
    ['127.0.0.1:4001', 'a multiaddr'],
  ])('a bootstrap peer %s is refused by name', async (address, expected) => {
    await expect(start({ bootstrapPeers: [address] })).rejects.toMatchObject({
      code: 'p2p.bad_bootstrap_peer',
      message: expect.stringContaining(address),
      issues: [{ field: 'bootstrapPeers', value: address, expected }],
    })
  })
})

describe('what is kept out', () => {
  test("a range that is the VPN's is neither dialled nor accepted nor announced", async () => {
    const blockedRanges: Cidr[] = [parseCidr('127.0.0.0/8')]
    const open = await start()
    const closed = await start({ blockedRanges, bootstrapPeers: open.addresses() })
    expect(closed.addresses()).toEqual([])
    await eventually(() => expect(closed.peer(open.self)?.lastError).toContain('a range that is kept out'))
    expect(connected(closed, open)).toBe(false)
  })

  test('a range that is blocked later closes what lies in it', async () => {
    const a = await start()
    const b = await start({ bootstrapPeers: a.addresses() })
    await eventually(() => expect(connected(a, b)).toBe(true))
    expect(new Set(a.remoteAddresses())).toEqual(new Set(['127.0.0.1']))
    a.blockRanges([parseCidr('127.0.0.0/8')])
    await eventually(() => expect(connected(a, b)).toBe(false))
    await eventually(() => expect(a.refusals()['host.blocked_range'] ?? 0).toBeGreaterThan(0), {
      withinMs: 10_000,
    })
  })

  test('a blocked peer is refused', async () => {
    const identity = systemRandom.bytes(32)
    const first = await start({ identity })
    const { self } = first
    await first.stop()
    const a = await start({ blockedPeers: [self] })
    await start({ identity, bootstrapPeers: a.addresses() })
    await eventually(() => expect(a.refusals()['host.blocked_peer'] ?? 0).toBeGreaterThan(0))
    expect(a.peer(parsePeerId(self))?.connected ?? false).toBe(false)
  })

  test.each([
    ['/ip4/127.0.0.1/udp/0/quic-v1', 'the transport quic-v1 turned on'],
    ['/ip4/127.0.0.1/sctp/1', 'a tcp, ws, quic-v1 or webrtc-direct multiaddr'],
  ])('a listen address %s that nothing takes is refused by name', async (address, expected) => {
    await expect(start({ listen: [address] })).rejects.toMatchObject({
      code: 'p2p.bad_listen_address',
      issues: [{ field: 'listen', value: address, expected }],
    })
  })

  test('a port in use is said in one line', async () => {
    const a = await start()
    const taken = a.addresses()[0]?.split('/p2p/')[0] ?? ''
    await expect(start({ listen: [taken] })).rejects.toMatchObject({ code: 'p2p.cannot_listen' })
  })
})

describe('transports', () => {
  const all = () => ({
    listen: [
      '/ip4/127.0.0.1/tcp/0',
      '/ip4/127.0.0.1/tcp/0/ws',
      '/ip4/127.0.0.1/udp/0/webrtc-direct',
      '/ip4/127.0.0.1/udp/0/quic-v1',
    ],
    switches: { ws: true, webrtcDirect: true, webrtc: true, quic: true },
  })

  test.each(['tcp', 'ws', 'webrtc-direct', 'quic-v1'])(
    '%s carries a connection between members',
    async (transport) => {
      const a = await start(all())
      await a.allTransportsReady
      const address = a
        .addresses()
        .find((text) => text.includes(`/${transport}/`) && (transport !== 'tcp' || !text.includes('/ws/')))
      const b = await start({ ...all(), bootstrapPeers: [address ?? ''] })
      await eventually(
        () => expect(b.peer(a.self)).toMatchObject({ connected: true, member: true, transport }),
        {
          withinMs: 15_000,
        },
      )
    },
  )

  test('stopping closes the ports, ends what waits, and may be asked for twice', async () => {
    // of other tests in this process something may be open
    const before = countSockets()
    const a = await start(all())
    const b = await start({ ...all(), bootstrapPeers: [a.addresses()[0] ?? ''] })
    await Promise.all([a.allTransportsReady, b.allTransportsReady])
    await eventually(() => expect(a.peer(b.self)).toMatchObject({ connected: true, member: true }))
    const port = Number(/tcp\/(\d+)\/p2p/.exec(a.addresses()[0] ?? '')?.[1])
    const since = performance.now()
    await Promise.all([a.stop(), a.stop(), b.stop()])
    expect(performance.now() - since).toBeLessThan(2_000)
    const answered = await new Promise((resolve) => {
      const socket = createConnection({ host: '127.0.0.1', port })
      socket.once('connect', () => resolve('connected'))
      socket.once('error', () => resolve('refused'))
    })
    expect(answered).toBe('refused')
    await eventually(() => {
      for (const [kind, count] of countSockets())
        expect({ kind, more: Math.max(0, count - (before.get(kind) ?? 0)) }).toEqual({ kind, more: 0 })
    })
  })
})

/** The open sockets and listeners of this process, by kind. */
function countSockets(): ReadonlyMap<string, number> {
  const kinds = process.getActiveResourcesInfo().filter((kind) => /TCPServer|TCPSocket|UDP/.test(kind))
  return new Map([...Map.groupBy(kinds, (kind) => kind)].map(([kind, all]) => [kind, all.length]))
}
