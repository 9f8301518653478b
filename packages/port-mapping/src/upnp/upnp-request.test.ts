import { once } from 'node:events'
import { createServer, type ServerResponse } from 'node:http'
import { createServer as createTcpServer, type AddressInfo, type Socket } from 'node:net'
import { afterEach, expect, test } from 'vitest'
import { MAX_UPNP_ANSWER_BYTES } from '../limits.ts'
import { askRouter } from './upnp-request.ts'

const closing: (() => void)[] = []
afterEach(() => {
  for (const close of closing.splice(0)) close()
})

/** Serves with raw bytes, as no library would send some of them. */
async function serveRaw(serve: (socket: Socket) => void): Promise<URL> {
  const sockets = new Set<Socket>()
  const server = createTcpServer((socket) => {
    sockets.add(socket)
    socket.on('error', () => {})
    serve(socket)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  closing.push(() => {
    server.close()
    for (const socket of sockets) socket.destroy()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/`)
}

async function serve(answer: (response: ServerResponse, path: string) => void): Promise<URL> {
  const server = createServer((request, response) => answer(response, request.url ?? '')).listen(
    0,
    '127.0.0.1',
  )
  await once(server, 'listening')
  closing.push(() => {
    server.closeAllConnections()
    server.close()
  })
  return new URL(`http://127.0.0.1:${(server.address() as AddressInfo).port}/first`)
}

const within = (ms = 5_000) => AbortSignal.timeout(ms)

/** Writes the same block as long as it is taken, and gives how many bytes went out when the other side has ended. */
function pour(socket: Socket, head: string, block: string): Promise<number> {
  socket.write(head)
  const more = () => {
    while (!socket.destroyed && socket.write(block));
  }
  socket.on('drain', more)
  more()
  return new Promise((resolve) => socket.once('close', () => resolve(socket.bytesWritten)))
}

test('what a router answers comes whole, whatever its status', async () => {
  const url = await serve((response) => response.writeHead(500, { 'content-type': 'text/xml' }).end('<a/>'))
  expect(await askRouter(url, within(), { action: 'a', body: '<b/>' })).toEqual({ status: 500, text: '<a/>' })
})

test('a redirection is an answer, and nobody is asked there', async () => {
  const paths: string[] = []
  const url = await serve((response, path) => {
    paths.push(path)
    response.writeHead(302, { location: '/second' }).end()
  })
  expect((await askRouter(url, within())).status).toBe(302)
  expect(paths).toEqual(['/first'])
})

test.each([
  ['a body', 'HTTP/1.1 200 OK\r\n\r\n', 'x'.repeat(16_384)],
  ['chunks of a byte', 'HTTP/1.1 200 OK\r\ntransfer-encoding: chunked\r\n\r\n', '1\r\nx\r\n'.repeat(2_000)],
  ['answers before the answer', '', 'HTTP/1.1 102 Processing\r\n\r\n'.repeat(500)],
  ['a head', 'HTTP/1.1 200 OK\r\n', 'a: b\r\n'.repeat(2_000)],
])('%s without end ends at the bound', async (_, head, block) => {
  const sent = Promise.withResolvers<number>()
  const url = await serveRaw((socket) => void pour(socket, head, block).then(sent.resolve))
  await expect(askRouter(url, within())).rejects.toThrow(/too much|Header overflow|parse error/i)
  // what the system keeps for both ends is more than the bound
  expect(await sent.promise).toBeLessThan(16 * 1024 * 1024 + MAX_UPNP_ANSWER_BYTES)
})

test('an answer that does not end, and one that does not begin, end with the time', async () => {
  const slow = await serve((response) => response.writeHead(200).write('x'))
  await expect(askRouter(slow, within(100))).rejects.toThrow(/timeout/i)
  const silent = await serveRaw(() => {})
  await expect(askRouter(silent, within(100))).rejects.toThrow(/timeout/i)
})

test('an answer that is cut short is none', async () => {
  const url = await serveRaw((socket) => socket.end('HTTP/1.1 200 OK\r\ncontent-length: 100\r\n\r\nx'))
  await expect(askRouter(url, within())).rejects.toThrow(/aborted|early/)
})

test('nobody there', async () => {
  const url = await serveRaw(() => {})
  for (const close of closing.splice(0)) close()
  await expect(askRouter(url, within())).rejects.toThrow('ECONNREFUSED')
})
