import { once } from 'node:events'
import type { RequestListener } from 'node:http'
import { type AddressInfo, connect } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { sendRaw } from '../../test/raw-http.ts'
import { PIECE_BYTES } from '../limits.ts'
import { createHttpServer } from './http-server.ts'

/** A clock that goes on by what the test says, beside the time that passes. */
function createWorkClock() {
  let workedMs = 0
  return {
    clock: { ...systemClock, monotonic: () => systemClock.monotonic() + workedMs },
    work: (ms: number) => void (workedMs += ms),
  }
}

async function serve(app: RequestListener, clock = systemClock): Promise<number> {
  const server = createHttpServer(app, { clock, random: systemRandom })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return (server.address() as AddressInfo).port
}

const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`

test('a connection has one request at a time, whatever came in one block', async () => {
  let [open, most] = [0, 0]
  const port = await serve((_req, res) => {
    most = Math.max(most, ++open)
    setImmediate(() => {
      open--
      res.end('ok')
    })
  })
  const put = 'PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\nbody'
  const answers = await sendRaw(port, (get('/') + put).repeat(100), { silentMs: 300 })
  expect(answers).toHaveLength(200)
  expect(most).toBe(1)
})

test('requests of many connections share the turns of the event loop, and health checks go first', async () => {
  const { clock, work } = createWorkClock()
  const handled: string[] = []
  const port = await serve((req, res) => {
    if (handled.push(req.url ?? '') === 1) sockets[0]?.write(get('/healthz'))
    work(8)
    res.end('ok')
  }, clock)
  const sockets = Array.from({ length: 40 }, () => connect(port, '127.0.0.1'))
  onTestFinished(() => {
    for (const socket of sockets) socket.destroy()
  })
  await Promise.all(sockets.map((socket) => once(socket, 'connect')))
  for (const socket of sockets.slice(1)) socket.write(get('/slow'))
  await eventually(() => expect(handled).toHaveLength(40))
  expect(handled.indexOf('/healthz')).toBeLessThan(20)
})

test('a body in thousands of chunks comes piece by piece', async () => {
  const pieces: number[] = []
  let inTurn = 0
  const port = await serve((req, res) => {
    req.on('data', ({ length }: Buffer) => {
      if (inTurn === 0) setImmediate(() => void (pieces.push(inTurn), (inTurn = 0)))
      inTurn += length
    })
    req.on('end', () => res.end('ok'))
  }, createSlowClock())
  const head = 'PUT / HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n'
  const [answer] = await sendRaw(port, `${head}${'1\r\nx\r\n'.repeat(20_000)}0\r\n\r\n`, { silentMs: 2_000 })
  expect(answer?.status).toBe(200)
  expect(pieces.reduce((sum, length) => sum + length, 0)).toBe(20_000)
  expect(Math.max(...pieces)).toBeLessThanOrEqual(2 * (PIECE_BYTES / 6 + 1))
})

/** Each look at it takes longer than a turn of the event loop has. */
function createSlowClock() {
  let looks = 0
  return { ...systemClock, monotonic: () => systemClock.monotonic() + 50 * looks++ }
}

test('a client that leaves ends its request', async () => {
  let closed = 0
  const port = await serve((_req, res) => void res.once('close', () => closed++))
  const socket = connect(port, '127.0.0.1')
  socket.write(get('/'))
  await once(socket, 'connect')
  socket.end()
  socket.resume()
  await eventually(() => expect(closed).toBe(1))
})

test('an answer waits for a client that reads slowly, and comes whole', async () => {
  const text = 'x'.repeat(8 * 2 ** 20)
  const port = await serve((_req, res) => res.end(text))
  const socket = connect(port, '127.0.0.1')
  let length = 0
  socket.on('data', (bytes) => {
    length += bytes.length
    socket.pause()
    setImmediate(() => socket.resume())
  })
  socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nConnection: close\r\n\r\n`)
  await once(socket, 'close')
  expect(length).toBeGreaterThan(text.length)
})
