import { createServer, type AddressInfo, type Socket } from 'node:net'
import { systemClock } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { SMALL_READ_BYTES } from '../limits.ts'
import { dial } from './dial.ts'

const SENT = Buffer.from(Array.from({ length: 100_000 }, (_, at) => at % 251))

/** A target that sends all of it and ends, and a socket to it that is read in small pieces. */
async function open(): Promise<Socket> {
  const server = createServer((socket) => socket.end(SENT).on('error', () => {}))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const socket = await dial({
    address: { host: '127.0.0.1', port },
    withinMs: 10_000,
    clock: systemClock,
    hasSmallReads: true,
  })
  onTestFinished(() => {
    socket.destroy()
    server.close()
  })
  return socket
}

test('a socket with small reads gives all that comes, in small pieces, and its end', async () => {
  const socket = await open()
  const pieces: Buffer[] = []
  let isOver = false
  socket.on('data', (piece: Buffer) => pieces.push(piece)).on('end', () => (isOver = true))
  socket.resume()
  await eventually(() => expect(isOver).toBe(true))
  expect(Buffer.concat(pieces).equals(SENT)).toBe(true)
  expect(Math.max(...pieces.map(({ length }) => length))).toBeLessThanOrEqual(SMALL_READ_BYTES)
  // a piece that waits keeps no memory but its own
  expect(pieces.map(({ buffer }) => buffer.byteLength)).toEqual(pieces.map(({ length }) => length))
})

test('nothing is read before it is asked for, and one piece at a time where its reader pauses', async () => {
  const socket = await open()
  const pieces: Buffer[] = []
  expect(socket.bytesRead).toBe(0)
  socket.on('data', (piece: Buffer) => {
    pieces.push(piece)
    socket.pause()
  })
  for (let count = 1; count <= 3; count++) {
    socket.resume()
    await eventually(() => expect(pieces).toHaveLength(count))
  }
  expect(socket.bytesRead).toBeLessThanOrEqual(3 * SMALL_READ_BYTES)
  expect(SENT.subarray(0, socket.bytesRead).equals(Buffer.concat(pieces))).toBe(true)
})
