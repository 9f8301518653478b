import { EventEmitter } from 'node:events'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { type Clock, systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { PIPELINED_AT_ONCE, REQUESTS_TURN_MS } from '../limits.ts'
import { Arrivals } from './arrivals.ts'
import { createHttpServer } from './http-server.ts'
import { RequestTurns } from './request-turns.ts'

const REQUESTS = 600
/** What each request takes, by the clock of the test. */
const REQUEST_MS = 1

/** A server whose requests are answered at once, and what it saw of them. */
async function createAnswering() {
  let now = 0
  const seen = { came: 0, inTurn: 0, most: 0, open: 0, mostOpen: 0 }
  const clock = { ...systemClock, monotonic: () => now }
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    if (seen.inTurn === 0) setImmediate(() => void (seen.inTurn = 0))
    seen.most = Math.max(seen.most, ++seen.inTurn)
    seen.mostOpen = Math.max(seen.mostOpen, ++seen.open)
    let isOver = false
    const end = () => {
      if (!isOver) seen.open--
      isOver = true
    }
    now += REQUEST_MS
    res.once('finish', end).once('close', end)
    req.setEncoding('utf8')
    let body = ''
    req.on('data', (text: string) => (body += text)).once('end', () => res.end(`${req.url} ${body}`))
  }
  const server = createHttpServer(answer, { clock, random: systemRandom })
  server.on('request', () => seen.came++)
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as { readonly port: number }
  return { port, seen }
}

const requestFor = (path: string) => `GET /${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
const paths = Array.from({ length: REQUESTS }, (_, at) => `p${at}`)

test('requests that come at once are answered in their order, one after the other and in turns', async () => {
  const { port, seen } = await createAnswering()
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let got = ''
  socket.setEncoding('utf8').on('data', (text: string) => (got += text))
  socket.write(paths.map(requestFor).join(''))
  await eventually(() => expect(got.match(/\/p\d+ /g)).toHaveLength(REQUESTS))
  expect(got.match(/p\d+/g)).toEqual(paths)
  expect(seen.mostOpen).toBe(1)
  expect(seen.most).toBeLessThanOrEqual(2 * (REQUESTS_TURN_MS / REQUEST_MS))
})

test('a connection that ends with requests left keeps nobody else waiting', async () => {
  const { port, seen } = await createAnswering()
  const gone = connect(port, '127.0.0.1')
  gone.on('error', () => {})
  gone.write(paths.map(requestFor).join(''), () => gone.resetAndDestroy())
  await eventually(async () => {
    const answer = await fetch(`http://127.0.0.1:${port}/other`)
    expect(await answer.text()).toBe('/other ')
  })
  await eventually(() => expect(seen.open).toBe(0))
})

test('a connection with requests that wait is not read until they are answered', async () => {
  const { port, seen } = await createAnswering()
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let got = ''
  let most = 0
  socket.setEncoding('utf8').on('data', (text: string) => (got += text))
  for (let round = 0; round < 5; round++) socket.write(paths.map(requestFor).join(''))
  await eventually(() => {
    const answers = got.match(/\/p\d+ /g)?.length ?? 0
    most = Math.max(most, seen.came - answers)
    expect(answers).toBe(5 * REQUESTS)
  })
  expect(most).toBeLessThanOrEqual(PIPELINED_AT_ONCE + 1)
})

test('a body that comes later than the request before it is answered still arrives', async () => {
  const { port } = await createAnswering()
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let got = ''
  socket.setEncoding('utf8').on('data', (text: string) => (got += text))
  const put = 'PUT /put HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\n\r\n'
  socket.write(requestFor('first') + requestFor('second') + put)
  await eventually(() => expect(got).toContain('/second '))
  socket.write('body')
  await eventually(() => expect(got).toContain('/put body'))
})

test('a head that is refused is the last one of its connection', async () => {
  const { port, seen } = await createAnswering()
  const socket = connect(port, '127.0.0.1')
  onTestFinished(() => void socket.destroy())
  let got = ''
  let isOver = false
  socket.setEncoding('utf8').on('data', (text: string) => (got += text))
  socket.once('end', () => (isOver = true))
  const header = `X-Long: ${'h'.repeat(1_000)}\r\n`
  socket.write(`GET /long HTTP/1.1\r\nHost: localhost\r\n${header.repeat(300)}\r\n${requestFor('after')}`)
  await eventually(() => expect(isOver).toBe(true))
  expect(got).toContain('http.headers_too_large')
  expect([got.includes('/after '), seen.open]).toEqual([false, 0])
})

/** Turns whose requests each take half of one by the clock of the test, and what was begun. */
function createCounted() {
  let now = 0
  const due: (() => void)[] = []
  const clock: Clock = {
    ...systemClock,
    monotonic: () => now,
    after(_ms, work) {
      due.push(work)
      return () => {}
    },
  }
  const turns = new RequestTurns(clock, new Arrivals(clock))
  const begun: string[] = []
  const take = (socket: object, name: string, url = '/') => {
    const res = new EventEmitter()
    turns.take({ socket, url } as unknown as IncomingMessage, res as unknown as ServerResponse, () => {
      begun.push(name)
      now += REQUESTS_TURN_MS / 2
    })
    return res
  }
  const turn = () => {
    for (const work of due.splice(0)) work()
  }
  return { begun, take, turn }
}

test('a connection that was answered before goes before new ones, which go on, too', () => {
  const { begun, take, turn } = createCounted()
  const known = Array.from({ length: 6 }, () => ({ destroyed: false }))
  for (const socket of known) {
    take(socket, 'first').emit('close')
    turn()
  }
  begun.length = 0
  turn()
  for (let at = 0; at < 8; at++) take({ destroyed: false }, 'new')
  for (const socket of known) take(socket, 'known')
  expect(begun).toEqual(['new', 'new'])
  while (begun.length < 14) turn()
  const order = begun.slice(2)
  expect(order.slice(0, 8).filter((name) => name === 'known')).toHaveLength(6)
  expect(order.slice(0, 4)).toContain('new')
})

test('questions for health go before others, which go on, too, however many ask', () => {
  const { begun, take, turn } = createCounted()
  for (let at = 0; at < 12; at++) take({ destroyed: false }, 'other')
  for (const path of ['/healthz', '/readyz', '/healthz', '/healthz'])
    take({ destroyed: false }, 'health', path)
  expect(begun).toEqual(['other', 'other'])
  while (begun.length < 16) turn()
  const order = begun.slice(2)
  expect(order.slice(0, 8).filter((name) => name === 'health')).toHaveLength(4)
  expect(order.slice(0, 2)).toContain('other')
})
