import { type AddressInfo, connect, type Socket } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { createManualClock, eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { LONG_READ_BYTES, LONG_READS, LONG_READS_AT_ONCE } from '../limits.ts'
import { createHttpServer } from './http-server.ts'
import { ReadTurns } from './read-turns.ts'

const BODY_BYTES = 1024 * 1024
const CONNECTIONS = LONG_READS_AT_ONCE / 2

interface Timed {
  _unrefTimer(): void
}

/** A server that reads bodies, and how many long reads there were in one turn. */
async function listen() {
  const seen = { readsInTurn: 0, most: 0 }
  const server = createHttpServer(
    (req, res) => {
      let bytes = 0
      req.on('data', (part: Uint8Array) => (bytes += part.length)).on('end', () => res.end(`had ${bytes}`))
    },
    { clock: systemClock, random: systemRandom },
  )
  server.prependListener('connection', (socket: Socket) => {
    const timed = socket as unknown as Timed
    const touch = timed._unrefTimer.bind(socket)
    let before = 0
    timed._unrefTimer = () => {
      touch()
      const isLong = socket.bytesRead - before >= LONG_READ_BYTES
      before = socket.bytesRead
      if (!isLong) return
      if (seen.readsInTurn++ === 0) setImmediate(() => void (seen.readsInTurn = 0))
      seen.most = Math.max(seen.most, seen.readsInTurn)
    }
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { port: (server.address() as AddressInfo).port, seen }
}

test('connections are read in turns, and all of what they send', async () => {
  const { port, seen } = await listen()
  const head = `PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: ${BODY_BYTES}\r\n\r\n`
  const answers = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    const got = { text: '' }
    socket.setEncoding('latin1').on('data', (text: string) => (got.text += text))
    socket.write(`${head}${'b'.repeat(BODY_BYTES)}`)
    return got
  })
  await eventually(() => {
    for (const { text } of answers) expect(text).toContain(`had ${BODY_BYTES}`)
  })
  expect(seen.most).toBeLessThanOrEqual(LONG_READS_AT_ONCE)
})

test('long reads have a rate together, and short ones none', async () => {
  const clock = createManualClock()
  const turns = new ReadTurns(clock, () => {})
  let longReads = 0
  const open = (bytes: number) => {
    const socket = {
      bytesRead: 0,
      destroyed: false,
      isPaused: () => false,
      _unrefTimer() {},
      _handle: { reading: true, readStop: () => 0, readStart: () => 0 },
    }
    turns.watch(socket as unknown as Socket)
    const read = () => {
      socket.bytesRead += bytes
      socket._unrefTimer()
    }
    socket._handle.readStart = () => {
      longReads++
      setImmediate(read)
      return 0
    }
    read()
    return socket
  }
  for (let count = 0; count < 2 * LONG_READS_AT_ONCE; count++) open(LONG_READ_BYTES)
  const short = open(LONG_READ_BYTES - 1)
  await eventually(() => expect(longReads).toBe(LONG_READS.burst))
  await clock.advance(1_000)
  await eventually(() => expect(longReads).toBeGreaterThan(LONG_READS.burst))
  expect(longReads).toBeLessThanOrEqual(2 * LONG_READS.burst + LONG_READS.perSecond)
  expect(short._handle.reading).toBe(true)
})
