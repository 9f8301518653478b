import { type AddressInfo, connect, type Socket } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { createHttpServer } from './http-server.ts'

const CONNECTIONS = 200
const HEAD_BYTES = 20 * 1024

test('a question on a known connection is not kept waiting by heads that begin on many others at once', async () => {
  let readBefore = 0
  const taken: Socket[] = []
  // each look at the time takes a millisecond: how fast this machine reads says nothing
  let now = 0
  const server = createHttpServer(
    (_req, res) => {
      readBefore = taken.filter(({ bytesRead }) => bytesRead > 0).length
      res.end('answered')
    },
    { clock: { ...systemClock, monotonic: () => now++ }, random: systemRandom },
  )
  server.on('connection', (socket) => taken.push(socket))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1_024, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = () => {
    const socket = connect(port, '127.0.0.1')
    onTestFinished(() => void socket.destroy())
    return socket.on('error', () => {})
  }
  const many = Array.from({ length: CONNECTIONS }, open)
  const known = open()
  let answers = 0
  known.setEncoding('latin1').on('data', (text: string) => (answers += text.split('answered').length - 1))
  known.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await eventually(() => expect(answers).toBe(1))
  await eventually(() => expect(taken).toHaveLength(CONNECTIONS + 1))

  for (const socket of many) {
    socket.write(`GET / HTTP/1.1\r\nHost: localhost\r\nX-Long: ${'h'.repeat(HEAD_BYTES)}`)
  }
  known.write('GET / HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await eventually(() => expect(answers).toBe(2))
  expect(readBefore).toBeLessThan(CONNECTIONS / 2)
  // none of them is forgotten
  await eventually(() => expect(taken.every(({ bytesRead }) => bytesRead > 0)).toBe(true))
})
