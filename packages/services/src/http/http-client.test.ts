import { createServer } from 'node:http'
import { type AddressInfo, connect, createServer as createTcpServer, type Socket } from 'node:net'
import { LoopTurns, type SharedBytes, systemClock, type WaitingBytes } from '@mesh/core'
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
  const counted: WaitingBytes[] = []
  const unread = { count: (waiting: WaitingBytes) => counted.push(waiting) } as unknown as SharedBytes
  const turns = new LoopTurns(8, systemClock)
  const waiting = { count: 0 }
  const first = Buffer.from('GET http://origin.test/ HTTP/1.1\r\n')
  const client = new HttpClient(near, first, {
    server: createServer(),
    turns,
    clock: systemClock,
    unread,
    waiting,
  })
  client.read()
  expect(counted[0]?.count()).toBe(first.byteLength)
  far.destroy()
  await eventually(() => expect(counted[0]?.count()).toBe(0))
})
