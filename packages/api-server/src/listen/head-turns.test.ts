import { type AddressInfo, connect, type Socket } from 'node:net'
import { systemClock, systemRandom } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { NEW_HEADS_AT_ONCE } from '../limits.ts'
import { createHttpServer } from './http-server.ts'

const CONNECTIONS = 200
const HEAD_BYTES = 20 * 1024

/** Listens, with an answer to each request once it is there in whole, and gives what opens a connection from an address. */
async function listen(monotonic: () => number, onRequest: (path: string) => void) {
  const server = createHttpServer(
    (req, res) => {
      onRequest(req.url ?? '')
      req.resume().once('end', () => res.end('answered'))
    },
    { clock: { ...systemClock, monotonic }, random: systemRandom },
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', 1_024, resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const { port } = server.address() as AddressInfo
  const open = (localAddress = '127.0.0.1') => {
    const socket = connect({ port, host: '127.0.0.1', localAddress })
    onTestFinished(() => void socket.destroy())
    return socket.on('error', () => {})
  }
  return { server, open }
}

test('a question on a known connection is not kept waiting by heads that begin on many others at once', async () => {
  let readBefore = 0
  const taken: Socket[] = []
  // each look at the time takes a millisecond: how fast this machine reads says nothing
  let now = 0
  const { server, open } = await listen(
    () => now++,
    () => {
      readBefore = taken.filter(({ bytesRead }) => bytesRead > 0).length
    },
  )
  server.on('connection', (socket) => taken.push(socket))
  const many = Array.from({ length: CONNECTIONS }, () => open())
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

test('of new connections that wait each address has as many read, however many one opens', async () => {
  const asked: string[] = []
  // while no time goes by connections are taken first, all that come at once
  const { open } = await listen(
    () => 0,
    (path) => asked.push(path),
  )
  const ask = (path: string, from?: string) =>
    open(from).write(`GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`)
  const askMany = () => Array.from({ length: CONNECTIONS }, () => ask('/many', '127.0.0.2'))
  askMany()
  ask('/one')
  askMany()
  await eventually(() => expect(asked).toHaveLength(2 * CONNECTIONS + 1))
  expect(asked.indexOf('/one')).toBeLessThan(NEW_HEADS_AT_ONCE)
})

test('a question is not kept waiting by bodies of which a byte comes on many connections at once', async () => {
  let asked = 0
  let readBefore = 0
  const taken: Socket[] = []
  const readOf = new Map<Socket, number>()
  const areRead = () => taken.filter((socket) => socket.bytesRead > (readOf.get(socket) ?? 0))
  let now = 0
  const { server, open } = await listen(
    () => now++,
    (path) => {
      asked++
      if (path === '/health') readBefore = areRead().length
    },
  )
  server.on('connection', (socket) => taken.push(socket))
  let answers = 0
  const openAndCount = () => {
    const socket = open()
    return socket
      .setEncoding('latin1')
      .on('data', (text: string) => (answers += text.split('answered').length - 1))
  }
  const many = Array.from({ length: CONNECTIONS }, openAndCount)
  for (const socket of many) socket.write('PUT / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 3\r\n\r\n')
  await eventually(() => expect(asked).toBe(CONNECTIONS))
  const known = openAndCount()
  known.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
  await eventually(() => expect(answers).toBe(1))

  const bring = async (text: string) => {
    for (const socket of taken) readOf.set(socket, socket.bytesRead)
    for (const socket of many) socket.write(text)
    known.write('GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n')
    await eventually(() => expect(areRead()).toHaveLength(CONNECTIONS + 1))
  }
  await bring('a')
  await bring('b')
  expect(readBefore).toBeLessThan(CONNECTIONS / 2)
  await bring('c')
  await eventually(() => expect(answers).toBe(CONNECTIONS + 4))
})
