import { once } from 'node:events'
import { type AddressInfo, createServer, type Socket } from 'node:net'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { ANSWERED_STAGGER_MS } from '../src/reach/limits.ts'
import type { P2pNodeInit } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const network = generateNetworkConfig({}, systemRandom)

async function start(init: Partial<P2pNodeInit> = {}) {
  const node = await startLoopbackNode({ network, ...init })
  onTestFinished(() => node.stop())
  return node
}

/** Takes connections and says nothing, as a machine that is too busy. */
async function serveSilence(): Promise<number> {
  const sockets = new Set<Socket>()
  const server = createServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

test('an address where somebody took the connection is waited for before the next one is dialled', async () => {
  const port = await serveSilence()
  const other = await start()
  const begun = performance.now()
  const bootstrapPeers = [`/ip4/127.0.0.1/tcp/${port}/p2p/${other.self}`, ...other.addresses()]
  const node = await start({ bootstrapPeers })
  await eventually(() => expect(node.peer(other.self)?.connected).toBe(true), { withinMs: 20_000 })
  expect(performance.now() - begun).toBeGreaterThanOrEqual(ANSWERED_STAGGER_MS)
})
