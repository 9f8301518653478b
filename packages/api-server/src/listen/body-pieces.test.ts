import type { AddressInfo } from 'node:net'
import { get } from 'node:http'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { ALL_PIECES_AT_ONCE, FEW_PIECES_AT_ONCE, PIECES_AT_ONCE } from '../limits.ts'
import { openRaw } from '../../test/raw-http.ts'
import { createHttpServer } from './http-server.ts'

/** A server that answers with the length of the body, and counts the pieces in which bodies come in one turn of the event loop. */
async function listen() {
  const counts = { inTurn: 0, most: 0 }
  const server = createHttpServer(
    (req, res) => {
      let length = 0
      req.on('data', (piece: Buffer) => {
        length += piece.length
        if (counts.inTurn++ === 0) setImmediate(() => (counts.inTurn = 0))
        counts.most = Math.max(counts.most, counts.inTurn)
      })
      req.on('end', () => res.end(`had ${length}`))
    },
    { clock: systemClock, random: systemRandom },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  return { counts, port }
}

const HEAD = 'PUT / HTTP/1.1\r\nHost: a\r\nTransfer-Encoding: chunked\r\n\r\n'
const pieces = (count: number) => '1\r\na\r\n'.repeat(count)
const END = '0\r\n\r\n'

test('a body in many pieces is read, and ends its connection where too many of them come at once', async () => {
  const { counts, port } = await listen()
  const few = openRaw(port, HEAD + pieces(PIECES_AT_ONCE) + END)
  await eventually(() => expect(few.got.text).toContain(`had ${PIECES_AT_ONCE}`))
  expect(few.got.isOver).toBe(false)
  // what comes later counts anew
  few.socket.write(HEAD + pieces(100) + END)
  await eventually(() => expect(few.got.text).toContain('had 100'))
  const many = openRaw(port, HEAD + pieces(10_000) + END)
  await eventually(() => expect(many.got.text).toContain('A body in too many pieces at once'))
  await eventually(() => expect(many.got.isOver).toBe(true))
  expect(many.got.text).toContain('HTTP/1.1 400')
  expect(counts.most).toBeLessThanOrEqual(PIECES_AT_ONCE)
})

test('many connections with such bodies have few pieces in a turn, and parsers that they used read other bodies', async () => {
  const { counts, port } = await listen()
  const CONNECTIONS = 40
  const all = Array.from({ length: CONNECTIONS }, () => openRaw(port, HEAD + pieces(10_000)))
  await eventually(() => expect(all.every(({ got }) => got.isOver)).toBe(true))
  // what came in one turn may be handed on in the next, with what comes there
  expect(counts.most).toBeLessThan(2 * (ALL_PIECES_AT_ONCE + CONNECTIONS * FEW_PIECES_AT_ONCE))
  for (let at = 0; at < CONNECTIONS; at++) {
    const { got } = openRaw(port, `PUT / HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody`)
    await eventually(() => expect(got.text).toContain('had 4'))
  }
  // clients of this process take their parsers from where servers do
  const answer = await new Promise<string>((resolve, reject) =>
    get({ port, host: '127.0.0.1' }, (res) => {
      let text = ''
      res.on('data', (part: Buffer) => (text += part.toString()))
      res.on('end', () => resolve(text))
    }).on('error', reject),
  )
  expect(answer).toBe('had 0')
})
