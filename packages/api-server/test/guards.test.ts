/** What a web page, a stranger's name or a flood meets. */
import { request } from 'node:http'
import { isLoopback } from '@mesh/core'
import { createRate } from '@mesh/core/limits'
import { createManualClock } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { WRITES } from '../src/limits.ts'
import { startTestNode, type TestNode } from './fixture.ts'
import { ask } from './raw-http.ts'

let node: TestNode
let port: number
beforeAll(async () => {
  node = await startTestNode({
    allowedHosts: ['mesh.example.com', 'Upper.Example.'],
    ownNames: ['nas.lan'],
    corsOrigins: ['https://app.example'],
  })
  ;({ port } = node.listener)
})
afterAll(() => node.stop())

test.each([
  'localhost',
  'LOCALHOST:1',
  'localhost.',
  '127.0.0.1',
  '10.9.8.7:80',
  '[::1]:8080',
  '[fd00::1]',
  'nas',
  'nas:8080',
  'nas.lan',
  'nas.lan.:8080',
  'mesh.example.com:443',
  'upper.example',
])('serves the Host %s', async (host) => {
  expect((await ask(port, 'GET /api/summary', { Host: host })).status).toBe(200)
})

test.each(['evil.example', 'a.localhost', 'mesh.example.com.evil.example', '127.0.0.1.nip.io', '1.2.3.4.5'])(
  'refuses the Host %s, naming it and the option, for pages too',
  async (host) => {
    for (const path of ['/api/summary', '/', '/healthz']) {
      const { status, body } = await ask(port, `GET ${path}`, { Host: host })
      expect(status).toBe(421)
      const parsed = JSON.parse(body)
      expect(parsed.Code).toBe('http.wrong_host')
      expect(parsed.Message).toContain(host)
      expect(parsed.Hint).toContain('--api-allowed-host')
    }
  },
)

test.each(['', ' ', 'a b', 'user@localhost', 'localhost:99999x', '[zz]', 'localhost/x', 'é.example'])(
  'refuses %j, which is no Host',
  async (host) => {
    const { status } = await ask(port, 'GET /api/summary', { Host: host })
    expect(status).toBe(400)
  },
)

test('the target of an absolute request decides over its Host', async () => {
  const asked = (target: string) => ask(port, `GET ${target}`, { Host: 'localhost' })
  expect((await asked('http://127.0.0.1/api/summary')).status).toBe(200)
  expect((await asked('http://evil.example/api/summary')).status).toBe(421)
  expect((await asked('http://localhost')).status).toBe(200)
})

test('a request needs exactly one Host, but for HTTP/1.0', async () => {
  const { sendRaw } = await import('./raw-http.ts')
  const status = async (text: string) => (await sendRaw(port, text, { silentMs: 2000 }))[0]?.status
  expect(await status('GET /api/summary HTTP/1.1\r\nConnection: close\r\n\r\n')).toBe(400)
  expect(
    await status(
      'GET /api/summary HTTP/1.1\r\nHost: localhost\r\nHost: evil.example\r\nConnection: close\r\n\r\n',
    ),
  ).toBe(400)
  expect(await status('GET /api/summary HTTP/1.0\r\n\r\n')).toBe(200)
})

const cross = { 'Sec-Fetch-Site': 'cross-site' }
test.each([
  ['a foreign origin', { Origin: 'http://evil.example' }, 403],
  ['the origin null', { Origin: 'null' }, 403],
  ['another port', { Origin: 'http://127.0.0.1:1' }, 403],
  ['another scheme', { Origin: 'https://localhost' }, 403],
  ['no origin at all', { Origin: '%%' }, 403],
  ['a page elsewhere', cross, 403],
  ['a page on another subdomain', { 'Sec-Fetch-Site': 'same-site' }, 403],
  ['an unknown kind of site', { 'Sec-Fetch-Site': 'x' }, 403],
  ['its own page', { 'Sec-Fetch-Site': 'same-origin' }, 200],
  ['the address bar', { 'Sec-Fetch-Site': 'none' }, 200],
  [
    'an allowed host, behind a proxy',
    { Origin: 'https://mesh.example.com', 'Sec-Fetch-Site': 'same-origin' },
    200,
  ],
  ['an allowed origin across sites', { ...cross, Origin: 'https://app.example' }, 200],
  ['an allowed origin in another scheme', { ...cross, Origin: 'http://app.example' }, 403],
] as const)('%s is answered with its status where data is', async (_who, headers, expected) => {
  for (const path of ['/api/summary', '/metrics', '/api/events', '/api/none', '/debug/x']) {
    const isOpen = expected === 200 && path !== '/api/summary' && path !== '/metrics'
    const { status } = isOpen ? { status: 200 } : await ask(port, `GET ${path}`, headers)
    expect(status).toBe(expected)
  }
  expect((await ask(port, 'PUT /api/ledger/b/k/v', headers)).status).toBe(expected)
})

test('its own origin is the scheme, host and port that were asked', async () => {
  const own = (host: string, origin: string) =>
    ask(port, 'PUT /api/ledger/b/k/v', { Host: host, Origin: origin })
  expect((await own(`localhost:${port}`, `http://localhost:${port}`)).status).toBe(200)
  expect((await own(`[::1]:${port}`, `http://[::1]:${port}`)).status).toBe(200)
  expect((await own('localhost', 'http://localhost')).status).toBe(200)
  expect((await own('localhost:80', 'http://localhost')).status).toBe(200)
  expect((await own(`localhost:${port}`, `http://127.0.0.1:${port}`)).status).toBe(403)
})

test('pages may be linked to from elsewhere', async () => {
  for (const path of ['/', '/machines/nas', '/healthz']) {
    expect((await ask(port, `GET ${path}`, { ...cross, Origin: 'null' })).status).toBe(200)
  }
})

test('CORS headers go to allowed origins and to nobody else', async () => {
  const allowed = await ask(port, 'GET /api/summary', { Origin: 'https://app.example', ...cross })
  expect(allowed.headers.get('access-control-allow-origin')).toBe('https://app.example')
  expect(allowed.headers.get('vary')).toBe('Origin')
  const preflight = await ask(port, 'OPTIONS /api/ledger/a/b', {
    Origin: 'https://app.example',
    'Access-Control-Request-Method': 'PUT',
    ...cross,
  })
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-methods')).toContain('PUT')
  for (const headers of [{}, { Origin: 'https://mesh.example.com' }, { Origin: 'http://evil.example' }]) {
    const other = await ask(port, 'OPTIONS /api/ledger/a/b', headers)
    expect([...other.headers.keys()].filter((name) => name.startsWith('access-control'))).toEqual([])
  }
})

test('every answer carries the headers that keep it where it belongs', async () => {
  for (const path of ['/api/summary', '/', '/api/none', '/x.js', '/api/ledger/%00']) {
    const { headers } = await ask(port, `GET ${path}`)
    expect(headers.get('x-content-type-options')).toBe('nosniff')
    expect(headers.get('x-frame-options')).toBe('DENY')
    expect(headers.get('cross-origin-resource-policy')).toBe('same-origin')
    expect(headers.get('content-security-policy')).toMatch(/^default-src 'none'.*frame-ancestors 'none'/)
    expect(headers.has('x-powered-by')).toBe(false)
  }
})

test('a unix socket takes any Host and Origin', async () => {
  const status = await new Promise((resolve, reject) => {
    const headers = { host: 'evil.example', origin: 'http://evil.example', ...cross }
    request({ socketPath: node.socketPath, path: '/api/summary', headers }, (res) => {
      res.resume()
      resolve(res.statusCode)
    })
      .on('error', reject)
      .end()
  })
  expect(status).toBe(200)
})

test('loopback may write as fast as it can', async () => {
  for (const round of ['a', 'b']) {
    const writes = Array.from({ length: WRITES.burst / 2 + 100 }, (_, at) =>
      node.client.putText({ bucket: 'burst', key: `${round}${at}`, value: 'v' }),
    )
    const states = new Set((await Promise.all(writes)).map(({ State }) => State))
    expect([...states]).toEqual(['Announcing'])
  }
})

test('another machine may write 1,000 at once and 200 a second, an IPv6 network as one', async () => {
  const clock = createManualClock()
  const limiter = createRate({ perAddress: WRITES, maxRemembered: 3 }, clock)
  const taken = (address: string, tries: number) =>
    Array.from({ length: tries }, () => limiter.take({ address })).filter(Boolean).length
  expect(taken('10.0.0.1', 1500)).toBe(1000)
  expect(taken('::ffff:10.0.0.1', 10)).toBe(0)
  expect(taken('10.0.0.2', 10)).toBe(10)
  await clock.advance(1000)
  expect(taken('10.0.0.1', 1500)).toBe(200)
  expect(taken('fd00:0:0:1::5', 600) + taken('fd00::1:0:0:0:6', 600)).toBe(1000)
  await clock.advance(60_000)
  expect(taken('fd00:0:0:1::7', 1500)).toBe(1000)
  expect(['127.0.0.1', '127.8.8.8', '::ffff:127.0.0.1', '::1'].every(isLoopback)).toBe(true)
  expect(['10.0.0.1', '::', '::2', '1.127.0.0', '::ffff:10.127.0.1'].some(isLoopback)).toBe(false)
})
