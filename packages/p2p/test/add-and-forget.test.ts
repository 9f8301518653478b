/** A person adds a peer by its address, and has one forgotten. */
import { peerIdFromPublicKey, parseCidr, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { P2pMember, P2pNodeInit } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

async function start(init: Partial<P2pNodeInit> = {}): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, ...init })
  nodes.push(node)
  return node
}

const tcpOf = (node: P2pMember) => node.addresses().find((text) => text.includes('/tcp/')) ?? ''
const soon = () => AbortSignal.timeout(10_000)

test('a peer is reached at the address that a person gives; it sees who dialled', async () => {
  const [a, b] = [await start(), await start()]
  expect(a.addPeer(tcpOf(b))).toBe(b.self)
  await a.connect(b.self, soon())
  expect(a.peer(b.self)).toMatchObject({ connected: true, path: 'direct', relay: undefined, foundBy: [] })
  await eventually(() => expect(b.peer(a.self)?.foundBy).toEqual(['incoming']))
})

test('a bootstrap peer is found by bootstrap', async () => {
  const a = await start()
  const b = await start({ bootstrapPeers: [tcpOf(a)] })
  await eventually(() => expect(b.peer(a.self)).toMatchObject({ connected: true, foundBy: ['bootstrap'] }))
})

test('a peer id alone is enough for a peer that was heard of', async () => {
  const [a, b] = [await start(), await start()]
  expect(a.addPeer(b.self)).toBe(b.self)
  await expect(a.connect(b.self, soon())).rejects.toMatchObject({ code: 'p2p.unreachable' })
  a.addPeer(tcpOf(b))
  a.addPeer(b.self)
  await a.connect(b.self, soon())
  expect(a.peer(b.self)?.connected).toBe(true)
})

test('what is no address of a peer, or may not be dialled, is refused in words', async () => {
  const a = await start({ blockedRanges: [parseCidr('10.1.0.0/24')] })
  const other = peerIdFromPublicKey(systemRandom.bytes(32))
  for (const [text, reason] of [
    ['nonsense', 'no peer id'],
    ['/ip4/192.0.2.7/tcp/4001', 'does not end with'],
    [`${tcpOf(a)}/p2p-circuit`, 'does not end with'],
    [`/ip4/10.1.0.9/tcp/4001/p2p/${other}`, 'keeps out of'],
    [`${tcpOf(a)}/p2p-circuit/p2p/${other}`, 'this node itself'],
  ] as const) {
    expect(() => a.addPeer(text)).toThrow(
      expect.objectContaining({
        code: 'p2p.bad_peer_address',
        message: expect.stringContaining(reason) as string,
      }),
    )
  }
  expect(a.peers()).toEqual([])
})

test('a forgotten peer is gone with its addresses, and may come back by itself', async () => {
  const [a, b] = [await start(), await start()]
  a.addPeer(tcpOf(b))
  await a.connect(b.self, soon())
  await eventually(() => {
    expect(a.peer(b.self)?.member).toBe(true)
    expect(b.peer(a.self)?.member).toBe(true)
  })
  expect(await b.forget(a.self)).toBe(true)
  // the other side misses the member and dials again
  await eventually(() => expect(b.peer(a.self)).toMatchObject({ connected: true, foundBy: ['incoming'] }), {
    withinMs: 15_000,
  })
  await a.stop()
  await eventually(() => expect(b.peer(a.self)?.connected).toBe(false), { withinMs: 15_000 })
  expect(await b.forget(a.self)).toBe(true)
  expect(b.peer(a.self)).toBeUndefined()
  expect(await b.forget(a.self)).toBe(false)
  await expect(b.connect(a.self, soon())).rejects.toMatchObject({ code: 'p2p.unreachable' })
  expect(b.peer(a.self)).toBeUndefined()
}, 60_000)

test('a configured peer that is forgotten is dialled again', async () => {
  const a = await start()
  const b = await start({ bootstrapPeers: [tcpOf(a)] })
  await eventually(() => expect(b.peer(a.self)?.connected).toBe(true))
  await b.forget(a.self)
  await eventually(() => expect(b.peer(a.self)).toMatchObject({ connected: true, foundBy: ['bootstrap'] }), {
    withinMs: 15_000,
  })
})
