import { EventEmitter } from 'node:events'
import { type IncomingMessage, type OutgoingMessage, request } from 'node:http'
import { type AddressInfo, connect, createServer } from 'node:net'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { passBody } from '../http/pass-body.ts'
import { readInTurns } from './held-socket.ts'

/** The answer of an origin that sends so much of it again and again, and the socket on which it comes. */
async function ask(part: string) {
  const origin = createServer((socket) => {
    socket.on('error', () => {})
    socket.write('HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n')
    const send = () => {
      while (!socket.destroyed && socket.write(part));
    }
    socket.on('drain', send)
    send()
  })
  await new Promise<void>((resolve) => origin.listen(0, '127.0.0.1', resolve))
  const socket = connect((origin.address() as AddressInfo).port, '127.0.0.1')
  onTestFinished(() => {
    socket.destroy()
    origin.close()
  })
  readInTurns(socket)
  const answer = await new Promise<IncomingMessage>((resolve, reject) => {
    request({ createConnection: () => socket }, resolve)
      .on('error', reject)
      .end()
  })
  answer.on('error', () => {})
  return { socket, answer }
}

/** A receiver that reads nothing until 'drain' is told. */
function createDeaf() {
  const received = { writes: 0 }
  const deaf = Object.assign(new EventEmitter(), {
    destroyed: false,
    write: () => {
      received.writes++
      return false
    },
    end: () => {},
  })
  return { received, deaf, to: deaf as unknown as OutgoingMessage }
}

test('while the receiver of a body does not read, nothing more is read of its socket', async () => {
  const { socket, answer } = await ask(`2000\r\n${'a'.repeat(0x2000)}\r\n`)
  const { deaf, received, to } = createDeaf()
  passBody(answer, to)
  await eventually(() => expect([socket.isPaused(), received.writes]).toEqual([true, 1]))
  const before = socket.bytesRead
  // what had come already goes on first
  await eventually(() => {
    deaf.emit('drain')
    expect(socket.bytesRead).toBeGreaterThan(before)
  })
  await eventually(() => expect(socket.isPaused()).toBe(true))
})

test('a body in more pieces at once than may be ends its connection', async () => {
  const { socket, answer } = await ask('1\r\na\r\n'.repeat(10_000))
  passBody(answer, createDeaf().to, 512)
  await eventually(() => expect(socket.destroyed).toBe(true))
})
