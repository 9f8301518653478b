import { type AddressInfo, connect } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { ARRIVALS_MS, REQUESTS_TURN_MS } from '../limits.ts'
import { Arrivals } from './arrivals.ts'
import { createHttpServer } from './http-server.ts'

test('a question for health on a new connection is answered soon, however many with long requests came before it', async () => {
  const asked: (string | undefined)[] = []
  // requests alone take time: how long this machine takes for a connection, and for other programs, says nothing
  let now = 0
  const server = createHttpServer(
    (req, res) => {
      now += REQUESTS_TURN_MS / 2
      asked.push(req.url)
      res.end()
    },
    { clock: { ...systemClock, monotonic: () => now }, random: systemRandom },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1_024, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const ask = (path: string) => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  }
  for (let count = 0; count < 300; count++) ask('/many')
  ask('/healthz')
  await eventually(() => expect(asked).toContain('/healthz'), { withinMs: 10_000 })
  expect(asked.indexOf('/healthz')).toBeLessThan(40)
})

test('requests have a turn now and then however many connections come, and all turns where none does', () => {
  let now = 0
  const arrivals = new Arrivals({ monotonic: () => now })
  /** Turns of requests of 100, each of which lasts 8 ms, or 1 ms where connections go first. */
  const turns = (comes: boolean) => {
    let [own, others] = [0, 0]
    while (own + others < 100) {
      if (comes) arrivals.note()
      const isOthers = arrivals.goFirst()
      now += isOthers ? 1 : REQUESTS_TURN_MS
      if (isOthers) others++
      else own++
    }
    return own
  }
  expect(turns(false)).toBe(100)
  const own = turns(true)
  expect(own).toBeGreaterThanOrEqual(Math.floor(100 / (ARRIVALS_MS + 1)))
  expect(own).toBeLessThan(20)
  expect(turns(false)).toBeGreaterThanOrEqual(99)
})
