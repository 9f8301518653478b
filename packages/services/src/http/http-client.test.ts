import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { systemClock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { HttpClient } from './http-client.ts'

async function socketPair(): Promise<readonly [near: Socket, far: Socket]> {
  const listener = createTcpServer({ pauseOnConnect: true, allowHalfOpen: true })
  onTestFinished(() => void listener.close())
  await new Promise<void>((resolve) => listener.listen(0, '127.0.0.1', resolve))
  const accepted = new Promise<Socket>((resolve) => listener.once('connection', resolve))
  const far = connect({ host: '127.0.0.1', port: (listener.address() as AddressInfo).port })
  return [await accepted, far]
}

test('the head of a client that has left counts no more', async () => {
  const [near, far] = await socketPair()
  near.on('error', () => {})
  const unread = new Scope({ all: 1_000 })
  const first = Buffer.from('GET http://origin.test/ HTTP/1.1\r\n')
  const client = new HttpClient(near, first, { server: createServer(), clock: systemClock, unread })
  client.read()
  expect(unread.total).toBe(first.byteLength)
  far.destroy()
  await eventually(() => expect(unread.total).toBe(0))
})
