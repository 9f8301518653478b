import type { AddressInfo } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { ALL_PIPELINED_AT_ONCE, MAX_PIPELINED_TIMES, PIPELINED_AT_ONCE } from '../limits.ts'
import { openRaw } from '../../test/raw-http.ts'
import { createHttpServer } from './http-server.ts'

/** A server that answers with the path, and how many requests it saw in one turn of the event loop. */
async function listen() {
  const came: string[] = []
  const counts = { inTurn: 0, most: 0 }
  const server = createHttpServer(
    (req, res) => {
      came.push(req.url ?? '')
      res.end(`had ${req.url}`)
    },
    { clock: systemClock, random: systemRandom },
  )
  server.on('request', () => {
    if (counts.inTurn++ === 0) setImmediate(() => (counts.inTurn = 0))
    counts.most = Math.max(counts.most, counts.inTurn)
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  return { came, counts, port: (server.address() as AddressInfo).port }
}

async function exchange(text: string) {
  const { port, ...seen } = await listen()
  return { ...seen, ...openRaw(port, text) }
}

const MOST = MAX_PIPELINED_TIMES * PIPELINED_AT_ONCE
const requestsWith = (count: number, headers: string, body = '') =>
  Array.from({ length: count }, (_, at) => `GET /${at} HTTP/1.1\r\nHost: a\r\n${headers}\r\n${body}`).join('')
const requests = (count: number) => requestsWith(count, '')
const answersIn = (text: string) => text.match(/had \/\d+/g)?.map((line) => Number(line.slice(5))) ?? []

test('all requests that come at once are answered, however many', async () => {
  const { got, socket, counts } = await exchange(requests(2_000))
  await eventually(() => expect(answersIn(got.text)).toHaveLength(2_000))
  expect(answersIn(got.text)).toEqual(Array.from({ length: 2_000 }, (_, at) => at))
  expect(counts.most).toBeLessThanOrEqual(PIPELINED_AT_ONCE + 1)
  socket.write(requests(1))
  await eventually(() => expect(answersIn(got.text)).toHaveLength(2_001))
  expect(got.isOver).toBe(false)
})

test('bodies and what is no request are found behind many requests, too', async () => {
  const put = `PUT /9000 HTTP/1.1\r\nHost: a\r\nContent-Length: 4\r\n\r\nbody`
  const { got } = await exchange(`${requests(300)}${put}${requests(100)}`)
  await eventually(() => expect(answersIn(got.text)).toHaveLength(401))
  expect(answersIn(got.text)[300]).toBe(9_000)
  const broken = await exchange(`${requests(300)}garbage\r\n\r\n${requests(100)}`)
  await eventually(() => expect(broken.got.isOver).toBe(true))
  expect(answersIn(broken.got.text)).toHaveLength(300)
  expect(broken.got.text).toContain('http.bad_request')
})

test('a connection with too many requests with bodies at once ends, with the reason', async () => {
  const { came, got } = await exchange(requestsWith(1_000, 'Content-Length: 1\r\n', 'x'))
  await eventually(() => expect(got.isOver).toBe(true))
  expect(came).toHaveLength(MOST)
  expect(answersIn(got.text)).toHaveLength(MOST)
  expect(got.text).toContain('Too many requests with bodies at once')
})

test('an upgrade behind many requests ends the connection', async () => {
  const upgrade = 'GET /up HTTP/1.1\r\nHost: a\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n'
  const { got } = await exchange(`${requests(100)}CONNECT a:1 HTTP/1.1\r\nHost: a\r\n\r\n${upgrade}`)
  await eventually(() => expect(got.isOver).toBe(true))
})

test('many connections with many requests at once share the turns, and all are answered', async () => {
  const { port, counts } = await listen()
  const connections = Array.from({ length: 60 }, () => openRaw(port, requests(1)))
  await eventually(() => {
    for (const { got } of connections) expect(answersIn(got.text)).toHaveLength(1)
  })
  for (const { socket } of connections) socket.write(requests(200))
  await eventually(() => {
    for (const { got } of connections) expect(answersIn(got.text)).toHaveLength(201)
  })
  expect(counts.most).toBeLessThan(ALL_PIPELINED_AT_ONCE + 2 * connections.length)
})
