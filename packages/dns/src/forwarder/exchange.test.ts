import { type AddressInfo, createServer } from 'node:net'
import { setImmediate } from 'node:timers/promises'
import { parseIp, systemClock } from '@mesh/core'
import { watchCopies } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { exchangeOverTcp } from './exchange.ts'

const ANSWER = Buffer.alloc(5_000, 'answer ')

/** A server that answers anyone who asks in pieces of so many bytes. */
async function answerInPieces(pieceBytes: number): Promise<number> {
  const wire = Buffer.concat([Buffer.of(ANSWER.length >> 8, ANSWER.length & 0xff), ANSWER])
  const server = createServer({ noDelay: true }, (socket) => {
    socket.on('error', () => {})
    const send = async () => {
      for (let at = 0; at < wire.length; at += pieceBytes) {
        socket.write(wire.subarray(at, at + pieceBytes))
        await setImmediate()
      }
    }
    socket.once('data', () => void send())
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  return (server.address() as AddressInfo).port
}

test('an answer over TCP that comes byte by byte is taken, and not copied for each of them', async () => {
  const port = await answerInPieces(1)
  using copies = watchCopies()
  const got: string[] = []
  const server = { address: parseIp('127.0.0.1'), port }
  const accept = (reply: Buffer) => got.push(reply.toString()) > 0
  await exchangeOverTcp({ server, packet: Buffer.from('asked'), withinMs: 30_000, accept }, systemClock)
  expect(got).toEqual([ANSWER.toString()])
  expect(copies.bytes).toBeLessThan(4 * ANSWER.length)
})
