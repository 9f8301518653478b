import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import type { Listener, MultiaddrConnection, Upgrader } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { silentLogger, systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, onTestFinished, test } from 'vitest'
import type { Door } from './socket-listener.ts'
import { Sockets } from './sockets.ts'
import { tcp } from './tcp.ts'

/** A transport, and a listener of it with the connections that it accepted. */
async function listen(door?: Door) {
  const sockets = new Sockets({ clock: systemClock, logger: silentLogger })
  onTestFinished(() => sockets.stop())
  const accepted: MultiaddrConnection[] = []
  const upgrader = {
    upgradeInbound: async (connection: MultiaddrConnection) => void accepted.push(connection),
    upgradeOutbound: async (connection: MultiaddrConnection) => connection,
  } as unknown as Upgrader
  const transport = tcp(door === undefined ? { sockets } : { sockets, door })({ logger: defaultLogger() })
  const listener: Listener = transport.createListener({ upgrader })
  await listener.listen(multiaddr('/ip4/127.0.0.1/tcp/0'))
  onTestFinished(() => listener.close())
  const dial = async () =>
    (await transport.dial(listener.getAddrs()[0] ?? multiaddr('/ip4/127.0.0.1/tcp/1'), {
      upgrader,
      signal: AbortSignal.timeout(5_000),
    })) as unknown as MultiaddrConnection
  return { accepted, listener, dial, transport, upgrader }
}

async function connectTwo(door?: Door) {
  const { accepted, listener, dial } = await listen(door)
  const near = await dial()
  await eventually(() => expect(accepted).toHaveLength(1))
  const far = accepted[0] as MultiaddrConnection
  return { near, far, listener }
}

function received(connection: MultiaddrConnection): { bytes: number } {
  const count = { bytes: 0 }
  connection.addEventListener('message', ({ data }) => void (count.bytes += data.byteLength))
  return count
}

test('carries bytes both ways, and ends both sides when one closes', async () => {
  const { near, far } = await connectTwo()
  const [atNear, atFar] = [received(near), received(far)]
  near.send(new Uint8Array(3))
  far.send(new Uint8Array(5))
  await eventually(() => expect([atNear.bytes, atFar.bytes]).toEqual([5, 3]))
  near.send(new Uint8Array(7))
  await near.close()
  await eventually(() => expect([near.status, far.status]).toEqual(['closed', 'closed']))
  expect(atFar.bytes).toBe(10)
})

test('a connection that is paused is not read, and loses nothing', async () => {
  const { near, far } = await connectTwo()
  const count = received(far)
  far.pause()
  const bytes = 16 * 1024 * 1024
  let isFull = false
  for (let sent = 0; sent < bytes; sent += 65_536) isFull = !near.send(new Uint8Array(65_536)) || isFull
  expect(isFull).toBe(true)
  await once(near, 'drain', { signal: AbortSignal.timeout(300) }).catch(() => {})
  expect(near.writeBufferLength).toBeGreaterThan(0)
  expect(count.bytes).toBe(0)
  far.resume()
  await eventually(() => expect(count.bytes).toBe(bytes))
})

test('a connection that is aborted ends at the other side', async () => {
  const { near, far } = await connectTwo()
  far.abort(new Error('broken off'))
  await eventually(() => expect(near.status).not.toBe('open'))
})

test('a door may take a socket, which libp2p never sees', async () => {
  const taken: Socket[] = []
  const { accepted, listener } = await listen(async (socket) => taken.push(socket) > 0)
  const port = Number(listener.getAddrs()[0]?.toString().split('/').at(-1))
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  await eventually(() => expect(taken).toHaveLength(1))
  expect(accepted).toEqual([])
  taken[0]?.destroy()
})

test('a listener that closes ends its connections, and its port is free', async () => {
  const { near, listener } = await connectTwo()
  const [address] = listener.getAddrs()
  await listener.close()
  await eventually(() => expect(near.status).not.toBe('open'))
  expect(listener.getAddrs()).toEqual([])
  const { listener: next } = await listen()
  await next.close()
  expect(address?.toString()).toContain('/tcp/')
})

test('a dial that nothing answers fails with the code of the system, and an aborted one with its reason', async () => {
  const { listener, transport, upgrader } = await listen()
  const address = listener.getAddrs()[0] ?? multiaddr('/ip4/127.0.0.1/tcp/1')
  await listener.close()
  const signal = AbortSignal.timeout(5_000)
  await expect(transport.dial(address, { upgrader, signal })).rejects.toMatchObject({ code: 'ECONNREFUSED' })
  const aborted = AbortSignal.abort(new Error('given up'))
  await expect(transport.dial(address, { upgrader, signal: aborted })).rejects.toThrow('given up')
})
