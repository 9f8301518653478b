import { type AddressInfo, connect, type Socket } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { READS_TURN_MS } from '../limits.ts'
import { createHttpServer } from './http-server.ts'

/** What reading a block takes, by the clock of the test. */
const BLOCK_MS = 3
const BODY_BYTES = 1024 * 1024
const CONNECTIONS = 4

interface Timed {
  _unrefTimer(): void
}

/** A server that reads bodies, by a clock on which each block that it reads takes long. */
async function listen() {
  let now = 0
  const seen = { blocksInTurn: 0, most: 0 }
  const server = createHttpServer(
    (req, res) => {
      let bytes = 0
      req.on('data', (part: Uint8Array) => (bytes += part.length)).on('end', () => res.end(`had ${bytes}`))
    },
    { clock: { ...systemClock, monotonic: () => now }, random: systemRandom },
  )
  server.prependListener('connection', (socket: Socket) => {
    const timed = socket as unknown as Timed
    const touch = timed._unrefTimer.bind(socket)
    let before = 0
    timed._unrefTimer = () => {
      touch()
      if (socket.bytesRead === before) return
      before = socket.bytesRead
      if (seen.blocksInTurn++ === 0) setImmediate(() => void (seen.blocksInTurn = 0))
      seen.most = Math.max(seen.most, seen.blocksInTurn)
      now += BLOCK_MS
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
  // a block begins while there is time left
  expect(seen.most).toBeLessThanOrEqual(2 * (Math.ceil(READS_TURN_MS / BLOCK_MS) + 1))
})
