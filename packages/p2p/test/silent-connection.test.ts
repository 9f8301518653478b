/** A connection that carries nothing any more, as behind a NAT that forgot it: nobody is told, and TCP goes on for minutes. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { P2pMember } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Forwards to a port until it is silenced: what comes then is read and dropped, and connections stay open. */
async function startForwarder(port: number) {
  let isSilent = false
  const sockets = new Set<Socket>()
  const server = createServer((inner) => {
    const outer = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => isSilent || to.write(bytes))
    }
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  ends.push(() => {
    for (const socket of sockets) socket.destroy()
    server.close()
  })
  const address = server.address()
  if (address === null || typeof address === 'string') throw new Error('no port')
  return { port: address.port, silence: () => (isSilent = true) }
}

async function start(init: Omit<Parameters<typeof startLoopbackNode>[0], 'network'>): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, ...init })
  ends.push(() => node.stop())
  return node
}

const network = generateNetworkConfig({}, systemRandom)

test('a stream goes by another connection when the first is silent', async () => {
  const server = await start({})
  await server.streams.handle('/test/echo/1', { from: 'proven', maxPerPeer: 4, relayed: true }, (stream) =>
    stream.onBytes((bytes) => stream.send(bytes)),
  )
  const [own = ''] = server.addresses()
  const port = Number(/\/tcp\/(\d+)/.exec(own)?.[1])
  const forwarder = await startForwarder(port)
  const client = await start({ bootstrapPeers: [own.replace(`/tcp/${port}/`, `/tcp/${forwarder.port}/`)] })
  const echo = async () => {
    const options = { from: 'proven', relayed: true } as const
    const stream = await client.streams.open(server.self, '/test/echo/1', options)
    return await new Promise<string>((resolve, reject) => {
      stream.onEnd((error) => reject(error ?? new Error('ended')))
      stream.onBytes((bytes) => resolve(new TextDecoder().decode(bytes)))
      stream.send(new TextEncoder().encode('hello'))
    })
  }
  // identify tells the address that leads there without the forwarder
  await eventually(() => expect(client.peer(server.self)?.addresses).toContain(own.split('/p2p/')[0]))
  expect(await echo()).toBe('hello')
  const doubted: string[] = []
  client.onDoubt((peer) => doubted.push(peer))
  forwarder.silence()
  expect(await echo()).toBe('hello')
  expect(doubted).toEqual([server.self])
  // whoever is connected is asked no more than once
  expect(client.peer(server.self)).toMatchObject({ connected: true, path: 'direct' })
}, 20_000)
