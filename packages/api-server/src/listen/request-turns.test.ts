import type { IncomingMessage, ServerResponse } from 'node:http'
import { connect } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { REQUESTS_TURN_MS } from '../limits.ts'
import { createHttpServer } from './http-server.ts'

const REQUESTS = 600
/** What each request takes, by the clock of the test. */
const REQUEST_MS = 1

/** A server whose requests are answered at once, and what it saw of them. */
async function createAnswering() {
  let now = 0
  const seen = { inTurn: 0, most: 0, open: 0, mostOpen: 0 }
  const clock = { ...systemClock, monotonic: () => now }
  const answer = (req: IncomingMessage, res: ServerResponse) => {
    if (seen.inTurn === 0) setImmediate(() => void (seen.inTurn = 0))
    seen.most = Math.max(seen.most, ++seen.inTurn)
    seen.mostOpen = Math.max(seen.mostOpen, ++seen.open)
    now += REQUEST_MS
    res.once('close', () => seen.open--)
    res.end(`${req.url} `)
  }
  const server = createHttpServer(answer, { clock, random: systemRandom })
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
