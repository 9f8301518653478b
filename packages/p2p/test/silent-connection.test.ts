/** A connection that carries nothing any more, as behind a NAT that forgot it: nobody is told, and TCP goes on for minutes. */
import { once } from 'node:events'
import { connect, createServer, type Socket } from 'node:net'
import { type Clock, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually, freePort } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { STALE_MS } from '../src/bulk/limits.ts'
import type { P2pMember } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0).toReversed()) await end()
})

/** Forwards to a port. Once silenced, what comes on the connections of before is dropped, and new ones pass, as with a NAT that restarted. */
async function startForwarder(port: number) {
  let silent = new Set<Socket>()
  const sockets = new Set<Socket>()
  const server = createServer((inner) => {
    const outer = connect(port, '127.0.0.1')
    for (const [from, to] of [
      [inner, outer],
      [outer, inner],
    ] as const) {
      sockets.add(from)
      from.on('error', () => {})
      from.on('data', (bytes) => silent.has(from) || to.write(bytes))
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
  return { port: address.port, silence: () => (silent = new Set(sockets)) }
}

async function start(
  init: Omit<Parameters<typeof startLoopbackNode>[0], 'network'>,
  clock?: Clock,
): Promise<P2pMember> {
  const node = await startLoopbackNode({ network, ...init }, clock)
  ends.push(() => node.stop())
  return node
}

const network = generateNetworkConfig({}, systemRandom)

/** A server that is reached over the forwarder alone, and a client that is connected to it. */
async function startPair() {
  const port = await freePort()
  const forwarder = await startForwarder(port)
  const server = await start({
    listen: [`/ip4/127.0.0.1/tcp/${port}`],
    announce: [`/ip4/127.0.0.1/tcp/${forwarder.port}`],
  })
  const options = { from: 'proven', relayed: true, maxPerPeer: 8, bulk: true } as const
  await server.streams.handle('/test/echo/1', options, (stream) =>
    stream.onBytes((bytes) => stream.send(bytes)),
  )
  let passedMs = 0
  const clock = { ...systemClock, monotonic: () => systemClock.monotonic() + passedMs }
  const client = await start({ bootstrapPeers: [...server.addresses()] }, clock)
  /** Opens a stream and has a word back; says what carried it. */
  const echo = async (bulk: boolean) => {
    const stream = await client.streams.open(server.self, '/test/echo/1', { ...options, bulk })
    const answer = await new Promise<string>((resolve, reject) => {
      stream.onEnd((error) => reject(error ?? new Error('ended')))
      stream.onBytes((bytes) => resolve(new TextDecoder().decode(bytes)))
      stream.send(new TextEncoder().encode('hello'))
    })
    stream.close()
    return [answer, stream.transport]
  }
  await eventually(async () => expect(await echo(false)).toEqual(['hello', undefined]))
  return { ...forwarder, server, client, echo, pass: (ms: number) => (passedMs += ms) }
}

test('a stream goes by another connection when the first is silent', async () => {
  const { server, client, echo, silence } = await startPair()
  const doubted: string[] = []
  client.onDoubt((peer) => doubted.push(peer))
  silence()
  expect(await echo(false)).toEqual(['hello', undefined])
  expect(doubted).toEqual([server.self])
  expect(client.peer(server.self)).toMatchObject({ connected: true, path: 'direct' })
}, 20_000)

test('a stream on a TLS connection that carries nothing any more ends soon, and the next one passes', async () => {
  const { echo, silence, pass } = await startPair()
  await eventually(async () => expect(await echo(true)).toEqual(['hello', 'tcp tls']))
  // one that was heard a moment ago is trusted
  pass(STALE_MS + 1)
  silence()
  await expect(echo(true)).rejects.toThrow(/./)
  expect((await echo(true))[0]).toBe('hello')
  // the pings of the connection itself would tell after 11 s
}, 9_000)
