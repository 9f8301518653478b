import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { createServer as createHttp } from 'node:http'
import { createServer, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createNodeClient, unixFetch } from '@mesh/api-client/node'
import type { MeshError } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { type ListenAddress, parseListenAddress } from '../src/index.ts'
import { withExposure } from '../src/handlers/node-reads.ts'
import { formatListenAddress } from '../src/listen/listen-address.ts'
import { startTestNode, type TestNode } from './fixture.ts'

let node: TestNode
let folder: string
let path: string
beforeEach(async () => {
  node = await startTestNode()
  folder = mkdtempSync(join(tmpdir(), 'mesh-listen-'))
  path = join(folder, 'x.sock')
})
afterEach(async () => {
  await node.stop()
  rmSync(folder, { recursive: true })
})

const failure = (address: ListenAddress): Promise<MeshError> =>
  node.server.listen(address).then(
    () => expect.unreachable('did listen'),
    (error: unknown) => error as MeshError,
  )

async function listenOn(server: Server, where: string | number): Promise<Server> {
  server.listen(typeof where === 'number' ? { port: where, host: '127.0.0.1' } : { path: where })
  await once(server, 'listening')
  return server
}
const closed = (server: Server) => new Promise((resolve) => server.close(resolve))

test.each([
  ['127.0.0.1:8080', { kind: 'tcp', host: '127.0.0.1', port: 8080 }],
  [':8080', { kind: 'tcp', host: undefined, port: 8080 }],
  ['[::1]:0', { kind: 'tcp', host: '::1', port: 0 }],
  ['localhost:80', { kind: 'tcp', host: 'localhost', port: 80 }],
  ['unix:///run/mesh.sock', { kind: 'unix', path: '/run/mesh.sock' }],
  ['unix://here.sock', { kind: 'unix', path: 'here.sock' }],
] as const)('reads %s and writes it back', (text, expected) => {
  const address = parseListenAddress(text)
  expect(address).toEqual(expected)
  expect(formatListenAddress(address)).toBe(text)
})

test.each([
  '',
  '8080',
  'localhost',
  '::1:8080',
  '127.0.0.1:65536',
  '127.0.0.1:x',
  'unix://',
  'http://x:1',
  '[::1]',
])('refuses %j and says which forms there are', (text) => {
  expect(() => parseListenAddress(text)).toThrow(expect.objectContaining({ code: 'api.bad_listen_address' }))
})

test('a socket has mode 0660 or the one asked for, whatever the umask, and is gone after the end', async () => {
  const before = process.umask(0)
  try {
    const listener = await node.server.listen({ kind: 'unix', path })
    expect(process.umask()).toBe(0)
    expect(statSync(path).mode & 0o777).toBe(0o660)
    expect((await createNodeClient({ baseUrl: listener.url }).getSummary()).NodeID).toBe(node.ledger.self)
    await listener.close()
    expect(existsSync(path)).toBe(false)
  } finally {
    process.umask(before)
  }
  const other = await node.server.listen({ kind: 'unix', path, mode: 0o600 })
  expect(statSync(path).mode & 0o777).toBe(0o600)
  await other.close()
  await other.close()
})

test('a live socket is never removed, a dead one is', async () => {
  const live = await listenOn(createServer(), path)
  expect(await failure({ kind: 'unix', path })).toMatchObject({ code: 'api.socket_in_use' })
  expect(lstatSync(path).isSocket()).toBe(true)
  await closed(live)
  // a process that was killed leaves its file behind
  const script = `require('node:net').createServer().listen(${JSON.stringify(path)}, () => process.kill(process.pid, 'SIGKILL'))`
  await once(spawn(process.execPath, ['-e', script]), 'exit')
  expect(lstatSync(path).isSocket()).toBe(true)
  const listener = await node.server.listen({ kind: 'unix', path })
  expect(await createNodeClient({ baseUrl: listener.url }).getLiveness()).toBe('ok\n')
})

test('a file or link that is no socket is left alone', async () => {
  writeFileSync(path, 'precious')
  expect(await failure({ kind: 'unix', path })).toMatchObject({ code: 'api.not_a_socket' })
  expect(lstatSync(path).isFile()).toBe(true)
  const link = join(folder, 'link.sock')
  symlinkSync(path, link)
  expect(await failure({ kind: 'unix', path: link })).toMatchObject({ code: 'api.not_a_socket' })
})

test('a socket that another program has put in our place stays when we end', async () => {
  const listener = await node.server.listen({ kind: 'unix', path })
  rmSync(path)
  const other = await listenOn(createServer(), path)
  await listener.close()
  expect(lstatSync(path).isSocket()).toBe(true)
  await closed(other)
})

test.each([
  ['a missing folder', { kind: 'unix', path: '/nonexistent/folder/x.sock' }, 'api.folder_missing', 'folder'],
  [
    'an address of another machine',
    { kind: 'tcp', host: '192.0.2.1', port: 0 },
    'api.address_unavailable',
    '192.0.2.1',
  ],
  ['a descriptor that is no socket', { kind: 'inherited', descriptor: 987 }, 'api.inherited_unusable', '987'],
] as const)('%s is told in one line', async (_what, address, code, word) => {
  const error = await failure(address)
  expect(error.code).toBe(code)
  expect(error.message).toContain(word)
  expect(error.message).not.toContain('\n')
  expect(error.hint).not.toBe('')
})

test('a port in use is told in one line', async () => {
  const { port } = node.listener
  expect(await failure({ kind: 'tcp', host: '127.0.0.1', port })).toMatchObject({
    code: 'api.port_in_use',
    message: `cannot listen on 127.0.0.1:${port}: the port is in use`,
  })
})

test('a listener beyond loopback is told of in health', () => {
  const own = { ready: () => true, problems: () => [] }
  const listeners = new Set([
    { url: 'http://127.0.0.1:8080', isExposed: false },
    { url: 'http://0.0.0.0:8080', isExposed: true },
  ])
  expect(withExposure(own, listeners, () => 'read').problems()).toEqual([
    expect.objectContaining({
      code: 'api.exposed',
      title: 'Anyone who reaches http://0.0.0.0:8080 may read',
    }),
  ])
})

test('IPv6 loopback is served', async () => {
  const listener = await node.server.listen({ kind: 'tcp', host: '::1', port: 0 })
  expect(listener).toMatchObject({ isExposed: false, url: `http://[::1]:${listener.port}` })
  expect((await createNodeClient({ baseUrl: listener.url }).getSummary()).NodeID).toBe(node.ledger.self)
})

/** Passes the listening socket to another process as its descriptor 3, as an init system does. */
async function inherit(server: Server) {
  const handle = (server as unknown as { readonly _handle: { readonly fd: number } })._handle
  const script = new URL('./inherited-node.ts', import.meta.url).pathname
  const child = spawn(process.execPath, ['--conditions=mesh-source', script], {
    stdio: ['pipe', 'pipe', 'inherit', handle.fd],
  })
  const [line] = (await once(child.stdout ?? child, 'data')) as [Buffer]
  return {
    told: JSON.parse(line.toString()) as { kind: string; url: string; self: string },
    async stop() {
      child.stdin?.end()
      await once(child, 'exit')
    },
  }
}

test('a TCP socket that was passed in is served', async () => {
  const server = await listenOn(createHttp(), 0)
  const bound = server.address()
  const child = await inherit(server)
  expect(child.told).toMatchObject({
    kind: 'tcp',
    url: `http://127.0.0.1:${typeof bound === 'object' ? bound?.port : 0}`,
  })
  const { url, self } = child.told
  await closed(server)
  expect((await createNodeClient({ baseUrl: url }).getSummary()).NodeID).toBe(self)
  await child.stop()
})

test('a unix socket that was passed in is served, and its file left alone', async () => {
  const server = await listenOn(
    createHttp((_req, res) => res.end('the parent')),
    path,
  )
  const before = statSync(path)
  const child = await inherit(server)
  expect(child.told).toMatchObject({ kind: 'unix', url: 'descriptor 3' })
  // parent and child hold one socket, and the system gives each connection to either
  const client = createNodeClient({
    baseUrl: `unix://${path}`,
    fetch: (url, init) => unixFetch(path)(url, init),
  })
  await eventually(async () => expect(await client.getLiveness()).toBe('ok\n'))
  await child.stop()
  expect(statSync(path)).toMatchObject({ ino: before.ino, mode: before.mode })
  await closed(server)
})

test('stopping ends event streams and requests that wait, within two seconds', async () => {
  const busy = await startTestNode()
  const controller = new AbortController()
  const states: string[] = []
  const events = busy.client.events({
    signal: controller.signal,
    onState: ({ state }) => states.push(state),
  })
  const next = events.next()
  await eventually(() => expect(states).toEqual(['open']))
  const before = performance.now()
  await busy.stop()
  expect(performance.now() - before).toBeLessThan(1900)
  await eventually(() => expect(states[1]).toBe('waiting'))
  controller.abort()
  await expect(next).resolves.toMatchObject({ done: true })
})
