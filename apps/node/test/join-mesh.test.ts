/** Programs with nodes of their own: three of this process and a node of another one, in one network and in two. */
import { execFile } from 'node:child_process'
import { mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { createServer } from 'node:http'
import { createServer as createTcpServer } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateToken, joinMesh, type JoinMeshInit, type Mesh, type MeshChange } from '../src/index.ts'
import { createMesh, type NodeProcess } from './harness.ts'

const WITHIN = { withinMs: 20_000, everyMs: 50 }
const processes = createMesh()
const token = generateToken()
const folder = mkdtempSync(join(tmpdir(), 'mesh-join-'))
let [a, b, c]: Mesh[] = []
let other: NodeProcess
const opened: Mesh[] = []

async function joinHere(init: JoinMeshInit): Promise<Mesh> {
  const settings = { mdns: false, dht: false, 'listen-maddrs': '/ip4/127.0.0.1/tcp/0' }
  const mesh = await joinMesh({ token, stateDir: folder, private: true, settings, ...init })
  opened.push(mesh)
  return mesh
}

const there = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('is not there')
  return value
}

beforeAll(async () => {
  a = await joinHere({ name: 'a' })
  const bootstrapPeers = a.addresses
  ;[b, c, other] = await Promise.all([
    joinHere({ ephemeral: true, bootstrapPeers }),
    joinHere({ ephemeral: true, bootstrapPeers }),
    processes.start({ token, args: [`--discovery-bootstrap-peers=${bootstrapPeers[0]}`] }),
  ])
})

afterAll(async () => {
  await Promise.all(opened.map((mesh) => mesh.close()))
  await processes.cleanUp()
  rmSync(folder, { recursive: true, force: true })
})

test('what one puts all others have, and a process that runs `mesh api`', async () => {
  const [first, second, third] = [there(a), there(b), there(c)]
  const changes: MeshChange[] = []
  const watching = (async () => {
    for await (const change of third.watch('jobs')) {
      changes.push(change)
      if (change.isDeleted) return
    }
  })()
  await first.ledger.put('jobs', 'a', { state: 'waiting', size: 2n ** 60n })
  await eventually(() => {
    for (const { ledger } of [first, second, third])
      expect(ledger.get('jobs', 'a')).toEqual({ state: 'waiting', size: 2n ** 60n })
  }, WITHIN)
  await eventually(
    async () =>
      expect(Object.keys((await other.client.getBucket({ bucket: 'jobs' })) as object)).toEqual(['a']),
    WITHIN,
  )
  expect(second.ledger.list('jobs')).toMatchObject([{ key: 'a', owner: first.id }])
  await second.ledger.delete('jobs', 'a')
  await watching
  expect(changes).toEqual([
    { key: 'a', value: { state: 'waiting', size: 2n ** 60n }, isDeleted: false, owner: first.id },
    { key: 'a', value: undefined, isDeleted: true, owner: second.id },
  ])
})

test('a slow reader gets the last change of each key, and the end with its signal', async () => {
  const { ledger, watch } = there(a)
  await ledger.put('slow', 'before', 0)
  const end = new AbortController()
  const watching = watch('slow', { existing: true, signal: end.signal })
  for (const value of [1, 2, 3]) await ledger.put('slow', 'x', value)
  expect((await watching.next()).value).toMatchObject({ key: 'before', value: 0 })
  expect((await watching.next()).value).toMatchObject({ key: 'x', value: 3 })
  const waiting = watching.next()
  end.abort(new Error('enough'))
  await expect(waiting).rejects.toThrow('enough')
  await expect(ledger.put('slow', 'y', undefined)).rejects.toMatchObject({ code: 'ledger.bad_value' })
})

test('a lease has one holder; given back it is the next one’s, with a greater number', async () => {
  const [first, second] = [there(a), there(b)]
  const held = await first.lease('leader', { ttl: '5s' })
  await expect(first.lease('leader')).rejects.toMatchObject({ code: 'lease.held' })
  const next = second.lease('leader', { ttl: '5s' })
  await eventually(async () =>
    expect(await other.client.listLeases()).toEqual([
      { Name: 'leader', Holder: first.id, Number: held.number, TTL: 5 },
    ]),
  )
  expect(held.signal.aborted).toBe(false)
  await held.release()
  expect(held.signal.reason).toMatchObject({ code: 'lease.released' })
  const { number, release } = await next
  expect(number).toBeGreaterThan(held.number)
  await release()
}, 30_000)

test('an HTTP server and a TCP server of the program serve members, who are known by their ids', async () => {
  const [first, second, third] = [there(a), there(b), there(c)]
  const http = createServer((request, response) => {
    response.setHeader('x-peer', first.peerOf(request.socket) ?? '')
    request.pipe(response)
  })
  const service = await first.listen('Jobs-API', http)
  const tcp = await second.listen(
    'echo',
    createTcpServer((socket) => socket.pipe(socket)),
  )
  await eventually(async () => {
    const response = await third.fetch('http://jobs-api.svc.mesh/a', { method: 'POST', body: 'hello' })
    expect([response.status, response.headers.get('x-peer')]).toEqual([200, third.id])
    expect(await response.text()).toBe('hello')
  }, WITHIN)
  expect((await first.fetch('http://jobs-api.svc.mesh/')).headers.get('x-peer')).toBe(first.id)
  const connection = await third.dial('echo')
  connection.end('through')
  expect(await text(connection)).toBe('through')
  await eventually(async () => {
    const services = (await other.client.getBucket({ bucket: 'services' })) as object
    expect(Object.keys(services).toSorted()).toEqual(['Jobs-API', 'echo'])
  }, WITHIN)
  for (const url of ['https://echo.svc.mesh/', 'http://echo.svc.mesh:81/', 'http://example.com/'])
    await expect(third.fetch(url)).rejects.toMatchObject({ code: 'services.bad_address' })
  // another program serves the name beside the first one, and alone when that one ends
  const beside = await second.listen(
    'Jobs-API',
    createServer((_request, response) => response.end('beside')),
  )
  await service.close()
  await eventually(async () => {
    const response = await third.fetch('http://jobs-api.svc.mesh/')
    expect(await response.text()).toBe('beside')
  }, WITHIN)
  await beside.close()
  await tcp.close()
  await eventually(() => expect(third.ledger.list('services')).toEqual([]), WITHIN)
})

test('a wait ends with its signal', async () => {
  const signal = AbortSignal.abort(new Error('given up'))
  const { dial, fetch, ledger, listen } = there(b)
  for (const asked of [
    dial('nobody', { signal }),
    fetch('http://nobody.svc.mesh/', { signal }),
    ledger.put('jobs', 'x', 1, { signal }),
    listen('x', createServer(), { signal }),
    joinHere({ signal }),
  ])
    await expect(asked).rejects.toThrow('given up')
})

test('two of one process are in two networks, and know nothing of each other', async () => {
  const stranger = await joinHere({
    token: generateToken(),
    ephemeral: true,
    bootstrapPeers: there(a).addresses,
  })
  await stranger.ledger.put('jobs', 'mine', 1)
  await there(a).ledger.put('jobs', 'theirs', 2)
  expect(stranger.ledger.list('jobs').map(({ key }) => key)).toEqual(['mine'])
  expect(there(a).ledger.get('jobs', 'mine')).toBeUndefined()
  await stranger.close()
})

test('two of one name stand in each other’s way, and the state is free again after the end', async () => {
  const { ledger, id } = there(a)
  await ledger.put('kept', 'x', 1)
  await expect(joinHere({ name: 'a' })).rejects.toMatchObject({
    code: 'node.locked',
    hint: expect.any(String) as string,
  })
  await there(a).close()
  await there(a).close()
  expect(() => ledger.get('kept', 'x')).toThrow(expect.objectContaining({ code: 'node.closed' }))
  await expect(ledger.put('kept', 'x', 2)).rejects.toMatchObject({ code: 'node.closed' })
  const end = new AbortController()
  const again = await joinHere({ name: 'a', signal: end.signal })
  expect([again.id, again.ledger.get('kept', 'x')]).toEqual([id, 1])
  end.abort()
  await again.close()
  // those that keep nothing have left nothing
  await Promise.all([b?.close(), c?.close()])
  expect(readdirSync(folder)).toHaveLength(2)
  expect(readdirSync(folder).flatMap((network) => readdirSync(join(folder, network)))).toEqual(['a'])
})

const PROGRAM = `
import { createServer } from 'node:http'
import { generateToken, joinMesh } from '${new URL('../src/index.ts', import.meta.url).href}'
const before = process.getActiveResourcesInfo().length
const settings = { mdns: false, dht: false, 'listen-maddrs': '/ip4/127.0.0.1/tcp/0' }
const init = { token: generateToken(), stateDir: process.argv[2], ephemeral: true, private: true, settings }
const one = await joinMesh(init)
const two = await joinMesh({ ...init, bootstrapPeers: one.addresses })
await one.listen('x', createServer((_request, response) => response.end('answer')))
const text = await (await two.fetch('http://x.svc.mesh/')).text()
two.watch('jobs')
await Promise.all([one.close(), two.close()])
console.log(text, process.getActiveResourcesInfo().length - before)
process.once('beforeExit', () => console.log('ends by itself'))
`

test('a program that has closed its nodes holds nothing, and ends by itself', async () => {
  const words = ['--conditions=mesh-source', '--input-type=module-typescript', '-e', PROGRAM, folder]
  const { stdout, stderr } = await promisify(execFile)(process.execPath, words, { timeout: 60_000 })
  expect({ stdout, stderr }).toEqual({ stdout: 'answer 0\nends by itself\n', stderr: '' })
})
