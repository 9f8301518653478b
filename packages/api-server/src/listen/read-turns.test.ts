import { type AddressInfo, connect, type Socket } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { LONG_READS_AT_ONCE, READ_BLOCK_BYTES } from '../limits.ts'
import { createHttpServer } from './http-server.ts'

const BODY_BYTES = 1024 * 1024
const CONNECTIONS = LONG_READS_AT_ONCE / 2

interface Timed {
  _unrefTimer(): void
}

/** A server that reads bodies, and how many whole blocks it read in one turn. */
async function listen() {
  const seen = { blocksInTurn: 0, most: 0 }
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
      const isWhole = socket.bytesRead - before >= READ_BLOCK_BYTES
      before = socket.bytesRead
      if (!isWhole) return
      if (seen.blocksInTurn++ === 0) setImmediate(() => void (seen.blocksInTurn = 0))
      seen.most = Math.max(seen.most, seen.blocksInTurn)
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
