/** What a legacy member may ask of an egress node on one stream: one request, which one connection is counted for. */
import { subscribe, unsubscribe } from 'node:diagnostics_channel'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { parseCidr } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { createEgress } from '../src/index.ts'
import { LEGACY_EGRESS_PROTOCOL } from '../src/protocols.ts'
import { createWorld } from './world.ts'

const closers: (() => unknown)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).reverse()) await close()
})

async function askOnOneStream(requests: number) {
  let asked = 0
  const origin = createServer((_request, response) => {
    asked++
    response.end('origin')
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  closers.push(() => origin.close())
  const { port } = origin.address() as AddressInfo
  const world = createWorld()
  closers.push(() => world.close())
  const [server, client] = [await world.member(), await world.member()]
  const init = { allow: [parseCidr('127.0.0.0/8')] }
  const egress = createEgress(init, { ...server.components, ownAddresses: () => [] })
  closers.push(() => egress.stop())
  await egress.start()
  client.components.user.announce()
  await eventually(() => expect(server.ledger.snapshot().getLive('users', client.id)).toBeDefined(), {
    withinMs: 5_000,
  })
  const { signal } = new AbortController()
  const stream = await client.network.streams.open(server.id, LEGACY_EGRESS_PROTOCOL, {
    from: 'heard',
    relayed: true,
    halfClose: true,
    signal,
  })
  let heard = ''
  let isOver = false
  stream.onBytes((bytes) => (heard += Buffer.from(bytes).toString()))
  stream.onEnd(() => (isOver = true))
  stream.onRemoteEnd(() => (isOver = true))
  stream.send(Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n\r\n`.repeat(requests)))
  await eventually(() => expect(isOver).toBe(true), { withinMs: 5_000 })
  return { asked, heard, connections: egress.status().connections }
}

test('one request is answered', async () => {
  const { asked, heard } = await askOnOneStream(1)
  expect(asked).toBe(1)
  expect(heard).toContain('origin')
})

test('of a thousand requests in a stream the second one ends it, and no thousand connections are made', async () => {
  let read = 0
  const count = () => read++
  subscribe('http.server.request.start', count)
  closers.push(() => unsubscribe('http.server.request.start', count))
  const { asked, connections } = await askOnOneStream(1_000)
  expect(asked).toBeLessThanOrEqual(1)
  expect(connections).toBeLessThanOrEqual(1)
  expect(read - asked).toBeLessThanOrEqual(2)
})
