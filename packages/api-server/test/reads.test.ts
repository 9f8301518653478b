import { heartbeatValue } from '@mesh/core'
import { createClient } from '@mesh/api-client'
import { createLedger } from '@mesh/ledger'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { newSigner, PAGE, startTestNode, type TestNode } from './fixture.ts'
import { ask } from './raw-http.ts'

let node: TestNode
beforeEach(async () => {
  node = await startTestNode()
})
afterEach(() => node.stop())

const get = (path: string, headers: Readonly<Record<string, string>> = {}) =>
  ask(node.listener.port, `GET ${path}`, headers)

/** What a legacy member may have written. */
async function mergeForeign(values: Readonly<Record<string, Readonly<Record<string, string>>>>) {
  const other = createLedger({ mode: 'off' }, { signer: newSigner() })
  const writes = Object.entries(values).flatMap(([bucket, keys]) =>
    Object.entries(keys).map(([key, value]) => ({ bucket, key, value })),
  )
  const entries = writes.map(({ bucket, key, value }) => ({
    bucket,
    key,
    entry: { value, owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null },
  }))
  const { rejected } = node.ledger.merge(entries, other.self)
  await other.stop()
  return rejected
}

test.each([
  ['/api/ledger/b/a%2Fb', 'a/b'],
  ['/api/ledger/b/%61%2f%62', 'a/b'],
  ['/api/ledger/b/^x\\.(y|z)*$!', '^x\\.(y|z)*$!'],
  ['/api/ledger/b/%5Ex%5C.(y%7Cz)*%24!', '^x\\.(y|z)*$!'],
  ['/api/ledger/b/fd00::1', 'fd00::1'],
  ['/api/ledger/b/fd00%3A%3A1', 'fd00::1'],
  ['/api/ledger/b/%2561', '%61'],
  ['/api/ledger/b/a+b', 'a+b'],
  ['/api/ledger/b/a%2Bb', 'a+b'],
  ['/api/ledger/b/a%20b', 'a b'],
  ['/api/ledger/b/%C3%A9', 'é'],
  ['/api/ledger/b/%F0%9F%98%80', '😀'],
  ['/api/ledger/b/__proto__', '__proto__'],
  ['/api/ledger/b/constructor', 'constructor'],
  ['/api/ledger/b/.', '.'],
  ['/api/ledger/b/..', '..'],
  ['/api/ledger/b/%2e%2E', '..'],
  ['/api/ledger/b/a;b=c,d@e&f$g', 'a;b=c,d@e&f$g'],
])('%s is decoded once', async (path, key) => {
  await node.ledger.put('b', key, '"found"').settled
  const { status, body } = await get(path)
  expect({ status, body }).toEqual({ status: 200, body: '"found"\n' })
})

test.each([
  '/api/ledger/b/%',
  '/api/ledger/b/%4',
  '/api/ledger/b/%zz',
  '/api/ledger/b/%ff',
  '/api/ledger/b/%C3',
  '/api/ledger/b/%ED%A0%80',
  '/api/ledger/b/%00',
  '/api/ledger/%00/k',
  '/api/ledger/b/k%00',
  '/api/ledger//k',
  '/api/ledger/b/',
  '/api/ledger/',
  '/api//ledger',
  '//api/ledger',
  '/api/blockchain/b/',
  '/api/blockchain//k',
  '/api/metrics/peer/',
  '/api/metrics/protocol/',
  '/api/none/%ff',
  '/page/%ff',
  '/api/ledger/b/k#x',
])('%s is refused with 400 in the form of errors', async (path) => {
  const { status, body, headers } = await get(path)
  expect(status).toBe(400)
  expect(headers.get('content-type')).toBe('application/json')
  const parsed = JSON.parse(body)
  expect(parsed.Code).toBe('http.bad_path')
  expect(parsed.Hint).not.toBe('')
  expect(parsed.RequestID).toMatch(/^[0-9a-f]{16}$/)
  expect(headers.get('x-request-id')).toBe(parsed.RequestID)
})

test('the rest of a path keeps its slashes', async () => {
  const put = (path: string) => ask(node.listener.port, `PUT ${path}?wait=5s`)
  for (const [rest, value] of [
    ['a/b/c', 'a/b/c'],
    ['/a', '/a'],
    ['a//b', 'a//b'],
    ['a/', 'a/'],
    ['%2f', '/'],
    ['..', '..'],
    ['a/../b', 'a/../b'],
  ]) {
    expect((await put(`/api/ledger/b/k/${rest}`)).status).toBe(200)
    expect((await get('/api/ledger/b/k')).body).toBe(`${JSON.stringify(value)}\n`)
  }
  expect((await put('/api/ledger/b/k/')).status).toBe(400)
  for (const path of ['/meshsub/1.2.0', '%2Fmeshsub%2F1.2.0', '/meshsub%2f1.2.0']) {
    expect(JSON.parse((await get(`/api/metrics/protocol/${path}`)).body).TotalIn).toBe(5462)
  }
})

test.each([
  ['/api', 404],
  ['/api/', 404],
  ['/api/none', 404],
  ['/api/summary/', 404],
  ['/api/Summary', 404],
  ['/api/ledger/a/b/c/d', 405],
  ['/', 200],
  ['/machines/nas', 200],
  ['/API/summary', 200],
  ['/debug/pprof/', 200],
  ['/index.html', 200],
  ['/assets/none.js', 404],
  ['/favicon.ico', 404],
  ['/a.b/c', 200],
])('GET %s is answered with %i', async (path, expected) => {
  const { status, body, headers } = await get(path)
  expect(status).toBe(expected)
  const isPage = body === PAGE && headers.get('content-security-policy')?.includes("script-src 'self'")
  const codes = new Map([
    [404, 'http.not_found'],
    [405, 'http.method_not_allowed'],
  ])
  expect(isPage === true ? undefined : JSON.parse(body).Code).toBe(codes.get(expected))
})

test('a node without a peer gate answers 404 and says why', async () => {
  const { status, body } = await get('/api/peergate')
  expect([status, JSON.parse(body).Code]).toEqual([404, 'trust.no_peerguard'])
})

test('other methods are answered with what an address takes', async () => {
  const { port } = node.listener
  const wrong = await ask(port, 'POST /api/users')
  expect(wrong.status).toBe(405)
  expect(wrong.headers.get('allow')).toBe('GET, HEAD, OPTIONS')
  expect((await ask(port, 'DELETE /api/ledger/a/b/c')).headers.get('allow')).toBe('PUT, OPTIONS')
  expect((await ask(port, 'PATCH /api/ledger/a/b')).headers.get('allow')).toBe(
    'GET, HEAD, PUT, DELETE, OPTIONS',
  )
  expect((await ask(port, 'POST /machines')).status).toBe(404)
  for (const path of ['/api/summary', '/', '*', '/machines']) {
    const { status, body } = await ask(port, `OPTIONS ${path}`)
    expect({ status, body }).toEqual({ status: 204, body: '' })
  }
})

test('HEAD has the headers of GET and no body', async () => {
  await node.ledger.put('b', 'k', '1').settled
  for (const path of ['/api/summary', '/api/ledger', '/', '/healthz', '/api/events']) {
    const response = await fetch(node.listener.url + path, { method: 'HEAD' })
    expect(response.status).toBe(200)
    expect(await response.text()).toBe('')
  }
  expect((await fetch(`${node.listener.url}/api/ledger/b/none`, { method: 'HEAD' })).status).toBe(404)
})

test('ledger reads can be kept by their reader until the next block, all else is not kept', async () => {
  await node.ledger.put('b', 'k', '1').settled
  const paths = ['/api/ledger', '/api/ledger/b', '/api/ledger/b/k', '/api/blockchain', '/api/blockchain/b/k']
  const tags = new Map<string, string>()
  for (const path of paths) {
    const { headers } = await get(path)
    expect(headers.get('cache-control')).toBe('private, no-cache')
    tags.set(path, headers.get('etag') ?? '')
    expect((await get(path, { 'If-None-Match': tags.get(path) ?? '' })).status).toBe(304)
    expect((await get(path, { 'If-None-Match': `"other", W/${tags.get(path)}` })).status).toBe(304)
  }
  const text = await get('/api/ledger?values=text', { 'If-None-Match': tags.get('/api/ledger') ?? '' })
  expect(text.status).toBe(200)
  await node.ledger.put('b', 'k2', '1').settled
  for (const path of paths)
    expect((await get(path, { 'If-None-Match': tags.get(path) ?? '' })).status).toBe(200)
  for (const path of ['/api/summary', '/', '/api/none', '/healthz', '/api/digest', '/metrics']) {
    expect((await get(path)).headers.get('cache-control')).toBe('no-store')
  }
})

test('a value that is no JSON is served as a string, and never spliced', async () => {
  const deep = `${'['.repeat(5000)}${']'.repeat(5000)}`
  const texts = {
    bare: 'hello',
    open: '{"a":',
    comma: '1,"x":2',
    close: '1}',
    empty: '',
    deep,
    fine: '{"a":1}',
  }
  expect(await mergeForeign({ strange: texts })).toEqual([])
  const bucket = JSON.parse((await get('/api/ledger/strange')).body)
  expect(bucket).toEqual({ ...texts, fine: { a: 1 } })
  expect(JSON.parse((await get('/api/ledger')).body).strange).toEqual(bucket)
  expect(JSON.parse((await get('/api/ledger?values=text')).body).strange).toEqual(texts)
  expect(JSON.parse((await get('/api/ledger/strange/comma')).body)).toBe('1,"x":2')
})

test('a node for clients of legacy nodes answers with the signed texts, unless a request says otherwise', async () => {
  const legacy = await startTestNode({ values: 'text' })
  const ask = async (path: string) => await (await fetch(legacy.listener.url + path)).text()
  try {
    await legacy.ledger.put('b', 'k', '"hello"').settled
    expect(JSON.parse(await ask('/api/ledger/b'))).toEqual({ k: '"hello"' })
    expect(JSON.parse(await ask('/api/ledger')).b).toEqual({ k: '"hello"' })
    expect(JSON.parse(await ask('/api/ledger/b/k'))).toBe('"hello"')
    expect(JSON.parse(await ask('/api/ledger/b/k?values=json'))).toBe('hello')
    expect(await legacy.client.getBucket({ bucket: 'b' })).toEqual({ k: 'hello' })
    expect(await legacy.client.getBucket({ bucket: 'b', values: 'text' })).toEqual({ k: '"hello"' })
  } finally {
    await legacy.stop()
  }
})

test('records that cannot be read are left out of the lists', async () => {
  const { ledger, client } = node
  const record = JSON.stringify({ PeerID: ledger.self, Hostname: 7 })
  await ledger.put('machines', '10.1.0.1', record).settled
  await ledger.put('dns', 'odd', '[1]').settled
  await ledger.put('dns', 'named', '{"A":"10.1.0.1","0":"x"}').settled
  expect(await client.listMachines()).toEqual([
    expect.objectContaining({ PeerID: ledger.self, Hostname: '', Version: '' }),
  ])
  expect((await client.listDns()).map(({ Regex, Records }) => [Regex, { ...Records }])).toEqual([
    ['named', { A: '10.1.0.1', TYPE0: 'x' }],
  ])
  expect(await client.getEntry({ bucket: 'dns', key: 'odd' })).toEqual([1])
})

test("a machine's address is the key that packets are routed by, whatever its record says", async () => {
  const { ledger, client } = node
  const record = JSON.stringify({ PeerID: ledger.self, Address: '10.1.0.1' })
  await ledger.put('machines', 'fd00::1', record).settled
  expect(await client.listMachines()).toMatchObject([{ Address: 'fd00::1', Addresses: ['fd00::1'] }])
})

test('a machine is one row and counts once, however many addresses it has', async () => {
  const { ledger, client } = node
  const own = JSON.stringify({ PeerID: ledger.self, Hostname: 'nas', Address: '10.1.0.9' })
  for (const key of ['10.1.0.9', '10.1.0.11', '2001:db8::1', 'fd00::1']) {
    await ledger.put('machines', key, own).settled
  }
  const theirs = createLedger({}, { signer: newSigner() })
  await theirs.put('machines', 'fd00::2', JSON.stringify({ PeerID: theirs.self })).settled
  ledger.merge([...theirs.snapshot().entries()], theirs.self)
  expect(await client.listMachines()).toMatchObject([
    {
      PeerID: ledger.self,
      Hostname: 'nas',
      Address: '10.1.0.11',
      Addresses: ['10.1.0.11', '10.1.0.9', '2001:db8::1', 'fd00::1'],
    },
    { PeerID: theirs.self, Address: 'fd00::2', Addresses: ['fd00::2'] },
  ])
  expect(await client.getSummary()).toMatchObject({ Machines: 2 })
  await theirs.stop()
})

test('a machine is online for 10 minutes after its heartbeat', async () => {
  const other = createLedger({}, { signer: newSigner() })
  const heartbeat = (ageMs: number) => heartbeatValue(Date.now() - ageMs)
  const merge = () => node.ledger.merge([...other.snapshot().entries()], other.self)
  await other.put('machines', '10.1.0.9', JSON.stringify({ PeerID: other.self })).settled
  // heartbeats are told in whole seconds
  await other.put('healthcheck', other.self, heartbeat(598_000)).settled
  merge()
  const listed = async () => {
    const [machine] = await node.client.listMachines()
    return [machine?.Online, machine?.OnChain, machine?.Connected, (await node.client.listNodes()).length]
  }
  expect(await listed()).toEqual([true, false, false, 3])
  await other.put('healthcheck', other.self, heartbeat(601_000)).settled
  merge()
  expect(await listed()).toEqual([false, false, false, 2])
  await other.stop()
})

test('?pretty indents without changing a digit', async () => {
  await node.ledger.put('b', 'k', '{"n":123456789012345678901,"s":"a\\"{,[:","e":[],"o":{}}').settled
  expect((await get('/api/ledger?pretty')).body).toBe(
    '{\n  "b": {\n    "k": {\n      "n": 123456789012345678901,\n      "s": "a\\"{,[:",\n      "e": [],\n      "o": {}\n    }\n  }\n}\n',
  )
})

test('without a network the node is alone, and traffic is 404', async () => {
  const alone = await startTestNode({ withoutNetwork: true })
  const client = createClient({ baseUrl: alone.listener.url })
  expect(await client.getSummary()).toMatchObject({ OnChainNodes: 0, Peers: 1 })
  expect(await client.listNodes()).toEqual([{ ID: alone.ledger.self, Online: true }])
  expect(await client.listPeers()).toEqual([])
  for (const call of [
    () => client.getTraffic(),
    () => client.listPeerTraffic(),
    () => client.getProtocolTraffic({ protocol: 'x' }),
  ]) {
    await expect(call()).rejects.toMatchObject({ code: 'metrics.no_reporter', status: 404 })
  }
  await alone.stop()
})

test('health tells the worst first, and readiness what it waits for', async () => {
  const since = Date.UTC(2026, 0, 1)
  const problem = { code: 'x', title: 'T', hint: 'H.' }
  const ill = await startTestNode({
    components: {
      health: {
        ready: () => false,
        problems: () => [
          { ...problem, severity: 'warning' },
          { ...problem, severity: 'error', since },
        ],
      },
    },
  })
  const health = await ill.client.getHealth()
  expect(health.Status).toBe('error')
  expect(health.Problems.map(({ Severity, Since }) => [Severity, Since])).toEqual([
    ['error', '2026-01-01T00:00:00.000Z'],
    ['warning', expect.stringMatching(/^20.*Z$/)],
  ])
  expect(await ill.client.getMetrics()).toContain('mesh_health_problems{code="x",severity="error"} 1\n')
  await expect(ill.client.getReadiness()).rejects.toMatchObject({ code: 'node.not_ready', status: 503 })
  await ill.stop()
})

test('a fault of the node shows a request id and nothing of its inside', async () => {
  const logged: unknown[] = []
  const broken = await startTestNode({
    components: {
      metrics: () => {
        throw new Error('secret detail')
      },
      logger: {
        debug() {},
        info() {},
        warn() {},
        error: (_message, fields) => logged.push(fields),
        child() {
          return this
        },
      },
    },
  })
  const { status, body } = await ask(broken.listener.port, 'GET /metrics')
  expect(status).toBe(500)
  expect(body).not.toContain('secret')
  await eventually(() =>
    expect(logged).toEqual([expect.objectContaining({ requestId: JSON.parse(body).RequestID })]),
  )
  await broken.stop()
})
