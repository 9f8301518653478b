/** A host that carries a VPN marks its own sockets, and none of those that something else opens meanwhile. */
import { once } from 'node:events'
import { connect, createServer } from 'node:net'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createP2pNode, type P2pMember, type P2pNodeInit } from '../src/node.ts'
import { Sockets } from '../src/transport/sockets.ts'

const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []
const marks: number[] = []

async function start(
  listen: string,
  sockets: Pick<P2pNodeInit, 'markSocket' | 'capSegments' | 'allowFragments'> = {},
): Promise<P2pMember> {
  const node = await createP2pNode(
    {
      network,
      identity: systemRandom.bytes(32),
      listen: [listen],
      private: true,
      switches: { mdns: false, webrtc: false, webrtcDirect: false, relayService: false, upnp: false },
      bootstrapPeers: nodes.flatMap((other) => other.addresses()),
      ...sockets,
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  nodes.push(node)
  return node
}

/** How many sockets were marked since the call before. */
const marked = () => marks.splice(0).length

let plain: P2pMember
beforeAll(async () => {
  plain = await start('/ip4/127.0.0.1/tcp/0')
})
afterAll(async () => {
  await Promise.all(nodes.map((node) => node.stop()))
})

async function untilJoined(one: P2pMember, other: P2pMember): Promise<void> {
  await eventually(() => expect(one.peers().find(({ id }) => id === other.self)?.member).toBe(true), {
    withinMs: 10_000,
  })
}

test('listening sockets and dials over TCP are marked, what their streams lead to is not', async () => {
  const node = await start('/ip4/127.0.0.1/tcp/0', { markSocket: (fd) => marks.push(fd) })
  await untilJoined(node, plain)
  expect(marks.length).toBeGreaterThanOrEqual(2)
  expect(marks.every((fd) => fd > 2)).toBe(true)

  const target = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(target, 'listening')
  const { port } = target.address() as { port: number }
  marked()
  // runs inside of what the dialled connection brought
  await node.channels.handle('/mesh/test-mark/1', { maxMessageBytes: 10 }, async (channel) => {
    const socket = connect(port, '127.0.0.1')
    await once(socket, 'connect')
    socket.destroy()
    await channel.send(Uint8Array.of(1))
    await channel.close()
  })
  const channel = await plain.channels.open(node.self, '/mesh/test-mark/1', { maxMessageBytes: 10 })
  for await (const message of channel.messages()) expect([...message]).toEqual([1])
  target.close()
  expect(marked()).toBe(0)
})

test('segments are not bounded on a link of this machine, and its sockets are marked all the same', async () => {
  const capped: number[] = []
  const capSegments = (fd: number) => void capped.push(fd)
  const node = await start('/ip4/127.0.0.1/tcp/0', { capSegments })
  await untilJoined(node, plain)
  marked()
  const both = await start('/ip4/127.0.0.1/tcp/0', { capSegments, markSocket: (fd) => marks.push(fd) })
  await untilJoined(both, plain)
  expect(capped).toEqual([])
  expect(marked()).toBeGreaterThanOrEqual(2)
})

test('sockets that listen may have their packets cut, and none that dials on a link of this machine', async () => {
  const allowed: number[] = []
  const node = await start('/ip4/127.0.0.1/tcp/0', { allowFragments: (fd) => void allowed.push(fd) })
  await untilJoined(node, plain)
  expect(allowed).toHaveLength(1)
})

test('a mark is told which host a socket dials, and none for a socket that listens', async () => {
  const told: (string | undefined)[] = []
  const mark = (_fd: number, remote?: string) => void told.push(remote)
  const sockets = new Sockets({ mark, clock: systemClock, logger: silentLogger })
  const server = createServer((socket) => socket.end()).listen(0, '127.0.0.1')
  await once(server, 'listening')
  sockets.listening(server)
  const socket = sockets.connecting(connect((server.address() as { port: number }).port, '127.0.0.1'))
  await once(socket, 'connect')
  socket.destroy()
  sockets.stop()
  server.close()
  expect(told).toEqual([undefined, '127.0.0.1'])
})

test('dials over WebSocket are marked', async () => {
  const server = await start('/ip4/127.0.0.1/tcp/0/ws')
  await server.allTransportsReady
  const [address] = server.addresses()
  const node = await createP2pNode(
    {
      network,
      identity: systemRandom.bytes(32),
      listen: ['/ip4/127.0.0.1/tcp/0/ws'],
      private: true,
      switches: { mdns: false, relayService: false, upnp: false, tcp: false },
      bootstrapPeers: address === undefined ? [] : [address],
      markSocket: (fd) => marks.push(fd),
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  nodes.push(node)
  marked()
  await untilJoined(node, server)
  expect(marked()).toBeGreaterThanOrEqual(1)
})

test('a socket that may not be marked is not connected', async () => {
  const node = await start('/ip4/127.0.0.1/tcp/0').catch(() => undefined)
  expect(node).toBeDefined()
  const refuse = () => {
    throw new Error('EPERM')
  }
  const refusing = start('/ip4/127.0.0.1/tcp/0', { markSocket: refuse })
  await expect(refusing).rejects.toThrow(/EPERM|listen/)
})
