import { type AddressInfo, connect } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { REQUESTS_TURN_MS } from '../limits.ts'
import { createHttpServer } from './http-server.ts'

const CONNECTIONS = 200
/** What the end of each connection takes, by the clock of the test. */
const END_MS = 2

test('connections that end together in the middle of a request are answered a few in each turn', async () => {
  let now = 0
  let [requests, answers, most] = [0, 0, 0]
  const clock = { ...systemClock, monotonic: () => now }
  const random = {
    ...systemRandom,
    bytes(length: number) {
      answers++
      now += END_MS
      return systemRandom.bytes(length)
    },
  }
  const server = createHttpServer(() => requests++, { clock, random })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  let answered = 0
  const sockets = Array.from({ length: CONNECTIONS }, () => {
    const socket = connect({ port, host: '127.0.0.1', allowHalfOpen: true })
    onTestFinished(() => void socket.destroy())
    socket.on('error', () => {})
    socket.once('data', (bytes) => {
      if (bytes.toString().startsWith('HTTP/1.1 400')) answered++
    })
    socket.write('PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\nhalf')
    return socket
  })
  await eventually(() => expect(requests).toBe(CONNECTIONS))
  let before = 0
  const look = () => {
    most = Math.max(most, answers - before)
    before = answers
    if (answers < CONNECTIONS) setImmediate(look)
  }
  setImmediate(look)
  for (const socket of sockets) socket.end()
  await eventually(() => expect(answered).toBe(CONNECTIONS))
  // one turn ends and the next one begins between two looks
  expect(most).toBeLessThanOrEqual((2 * REQUESTS_TURN_MS) / END_MS)
})
