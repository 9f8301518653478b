import { createServer, type RequestListener } from 'node:http'
import {
  type AddressInfo,
  connect,
  createServer as createTcpServer,
  type Server,
  type Socket,
} from 'node:net'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { fetchOver } from './fetch-over.ts'

async function connectTo(server: Server): Promise<Socket> {
  const open = new Set<Socket>()
  server.on('connection', (socket) => open.add(socket.on('error', () => {})))
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const socket = connect({ host: '127.0.0.1', port: (server.address() as AddressInfo).port })
  onTestFinished(() => {
    socket.destroy()
    for (const each of open) each.destroy()
    server.close()
  })
  return socket
}

const toServer = (listener: RequestListener) => connectTo(createServer(listener))
/** A server that answers with these bytes whatever it is asked. */
const toBytes = (answer: string) =>
  connectTo(createTcpServer((socket) => socket.once('data', () => socket.end(answer))))
const URL_OF_SERVICE = 'http://jobs.svc.mesh/a/b?c=d'

test('the request arrives whole, and the answer comes back as of fetch', async () => {
  const connection = await toServer((request, response) => {
    response.setHeader('set-cookie', ['a=1', 'b=2'])
    response.writeHead(201, 'Made').write(`${request.method} ${request.url} ${request.headers.host} `)
    request.pipe(response)
  })
  const request = new Request(URL_OF_SERVICE, { method: 'PUT', body: 'hello' })
  const response = await fetchOver(connection, request)
  expect([response.status, response.statusText]).toEqual([201, 'Made'])
  expect(response.headers.getSetCookie()).toEqual(['a=1', 'b=2'])
  expect(await response.text()).toBe('PUT /a/b?c=d jobs.svc.mesh hello')
  await eventually(() => expect(connection.destroyed).toBe(true))
})

test('an answer without a body, and a redirect, are answers', async () => {
  for (const [status, method] of [
    [204, 'GET'],
    [304, 'GET'],
    [302, 'GET'],
    [200, 'HEAD'],
  ] as const) {
    const connection = await toServer((_request, response) => void response.writeHead(status).end())
    const response = await fetchOver(connection, new Request(URL_OF_SERVICE, { method }))
    expect([response.status, await response.text()]).toEqual([status, ''])
  }
})

test('what is no answer is an error with a code, and the connection ends', async () => {
  for (const answer of [
    '',
    'hello',
    'HTTP/1.1 999 No\r\n\r\n',
    'HTTP/1.1 101 Switching\r\nConnection: upgrade\r\nUpgrade: x\r\n\r\n',
    `${'HTTP/1.1 103 Hints\r\n\r\n'.repeat(100)}HTTP/1.1 200 OK\r\n\r\n`,
    `HTTP/1.1 200 OK\r\nA: ${'a'.repeat(100_000)}\r\n\r\n`,
  ]) {
    const connection = await toBytes(answer)
    await expect(fetchOver(connection, new Request(URL_OF_SERVICE))).rejects.toMatchObject({
      code: 'services.broken',
    })
    await eventually(() => expect(connection.destroyed).toBe(true))
  }
})

test('a body that breaks off is an error', async () => {
  const connection = await toBytes('HTTP/1.1 200 OK\r\nContent-Length: 100\r\n\r\nhalf')
  const response = await fetchOver(connection, new Request(URL_OF_SERVICE))
  await expect(response.text()).rejects.toThrow(/aborted|terminated|closed|reset|premature/i)
})

test('the signal ends the request, before and after the head of the answer', async () => {
  const giveUp = new AbortController()
  const silent = await toServer(() => {})
  const waiting = fetchOver(silent, new Request(URL_OF_SERVICE, { signal: giveUp.signal }))
  giveUp.abort(new Error('given up'))
  await expect(waiting).rejects.toThrow('given up')

  const later = new AbortController()
  const slow = await toServer((_request, response) => void response.write('begin'))
  const response = await fetchOver(slow, new Request(URL_OF_SERVICE, { signal: later.signal }))
  later.abort(new Error('given up'))
  await expect(response.text()).rejects.toThrow('aborted')
  expect(slow.destroyed).toBe(true)
})
