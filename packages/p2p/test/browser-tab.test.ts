/** A tab and real nodes: it connects to one over a WebSocket, and to all others in circuits over that one. */
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { createP2pTab } from '../src/browser.ts'
import type { P2pMember, P2pNodeInit } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const network = generateNetworkConfig({}, systemRandom)
const components = { clock: systemClock, random: systemRandom, logger: silentLogger }
const ECHO = '/mesh/echo/1'
const ends: (() => unknown)[] = []
afterEach(async () => {
  await Promise.all(ends.splice(0).map((end) => end()))
})

async function startNode(init: Partial<P2pNodeInit>): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, ...init })
  ends.push(() => node.stop())
  await node.allTransportsReady
  await node.streams.handle(ECHO, { from: 'proven', relayed: true, maxPerPeer: 4 }, (stream) =>
    stream.onBytes((bytes) => stream.send(bytes)),
  )
  return node
}

const startWebNode = () =>
  startNode({ listen: ['/ip4/127.0.0.1/tcp/0', '/ip4/127.0.0.1/tcp/0/ws'], switches: { ws: true } })

async function startTab(bootstrapPeers: readonly string[]): Promise<P2pMember> {
  const tab = await createP2pTab({ network, identity: systemRandom.bytes(32), bootstrapPeers }, components)
  ends.push(() => tab.stop())
  return tab
}

const webAddresses = (node: P2pMember) => node.addresses().filter((address) => address.includes('/ws'))

async function echo(tab: P2pMember, node: P2pMember): Promise<string> {
  await tab.connect(node.self, AbortSignal.timeout(10_000))
  const stream = await tab.streams.open(node.self, ECHO, { from: 'proven', relayed: true })
  const answer = new Promise<string>((resolve) =>
    stream.onBytes((bytes) => resolve(new TextDecoder().decode(bytes))),
  )
  stream.send(new TextEncoder().encode('hello'))
  return await answer.finally(() => stream.close())
}

test('a tab reaches its node, a node that dialled it and a node that it dialled; none of them is told to relay', async () => {
  const [node, dialled] = await Promise.all([startWebNode(), startNode({})])
  const dialling = await startNode({ bootstrapPeers: node.addresses() })
  node.addPeer(dialled.addresses()[0] ?? '')
  await eventually(() => expect(node.peers().filter(({ member }) => member)).toHaveLength(2))
  const tab = await startTab(webAddresses(node))
  expect(await echo(tab, node)).toBe('hello')
  expect(await echo(tab, dialling)).toBe('hello')
  expect(await echo(tab, dialled)).toBe('hello')
  expect(tab.peer(node.self)).toMatchObject({ path: 'direct', transport: 'ws' })
  expect(tab.peer(dialled.self)).toMatchObject({ path: 'relayed', relay: node.self })
  expect(node.addresses().concat(dialled.addresses()).join()).not.toContain('p2p-circuit')
})

test('a tab dials nothing but the nodes that it was given', async () => {
  const [node, other] = await Promise.all([startWebNode(), startWebNode()])
  node.addPeer(other.addresses()[0] ?? '')
  await eventually(() => expect(node.peers().filter(({ member }) => member)).toHaveLength(1))
  const tab = await startTab(webAddresses(node))
  for (const address of webAddresses(other)) tab.addPeer(address)
  await tab.connect(other.self, AbortSignal.timeout(10_000))
  expect(tab.peer(other.self)).toMatchObject({ path: 'relayed', relay: node.self })
})

test('a relay carries nothing to a peer that it has no connection to', async () => {
  const [node, away] = await Promise.all([startWebNode(), startNode({})])
  const tab = await startTab(webAddresses(node))
  await tab.connect(node.self, AbortSignal.timeout(10_000))
  await expect(tab.connect(away.self, AbortSignal.timeout(10_000))).rejects.toThrow(
    expect.objectContaining({ code: 'p2p.unreachable' }),
  )
})
