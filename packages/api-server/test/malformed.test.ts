/** Requests that no honest client sends: always a clean 4xx in the form of errors, never a 500, never a hang. */
import { connect } from 'node:net'
import { errorBody, errorCatalogue, isErrorCode } from '@mesh/api-contract'
import { systemClock, systemRandom } from '@mesh/core'
import fc from 'fast-check'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { MAX_ISSUES } from '../src/limits.ts'
import { createHttpServer } from '../src/listen/http-server.ts'
import { startTestNode, type TestNode } from './fixture.ts'
import { ask, type RawAnswer, sendRaw } from './raw-http.ts'

let node: TestNode
let port: number
beforeAll(async () => {
  node = await startTestNode()
  ;({ port } = node.listener)
})
afterAll(() => node.stop())

/** A success, or an error as the contract says. */
function expectClean({ status, body, headers }: RawAnswer): void {
  if (status < 400) return
  const parsed = errorBody.parse(JSON.parse(body))
  const described = isErrorCode(parsed.Code) ? errorCatalogue[parsed.Code].status : undefined
  expect({ status, type: headers.get('content-type') }).toEqual({
    status: described,
    type: 'application/json',
  })
  expect(status).toBeLessThan(500)
}

const pathPiece = fc.oneof(
  fc.constantFrom(
    '/',
    '//',
    '%',
    '%00',
    '%2F',
    '%2f',
    '%zz',
    '%c3%28',
    '%E2%82',
    '..',
    '.',
    '?',
    '&',
    '=',
    '+',
    '#',
  ),
  fc.constantFrom(
    'api',
    'ledger',
    'blockchain',
    'metrics',
    'peer',
    'protocol',
    'dns',
    'events',
    'summary',
    '__proto__',
  ),
  fc.constantFrom(
    '?wait=1ms',
    '?types=gap,x',
    '?values=text',
    '?pretty',
    '&wait=',
    '*',
    ':',
    ';',
    ',',
    '\\',
    '"',
    '{',
    '~',
  ),
  fc.string({
    unit: fc.integer({ min: 0x21, max: 0x7e }).map((code) => String.fromCharCode(code)),
    maxLength: 12,
  }),
)
const target = fc.array(pathPiece, { maxLength: 12 }).map((pieces) => `/api/${pieces.join('')}`)
const method = fc.constantFrom('GET', 'HEAD', 'PUT', 'POST', 'DELETE', 'OPTIONS', 'PATCH', 'TRACE')

test('any path and method is answered cleanly', { timeout: 60_000 }, async () => {
  await fc.assert(
    fc.asyncProperty(method, target, async (verb, path) => {
      // a stream of events does not end
      fc.pre(!/^\/api\/events($|\?)/.test(path) || verb !== 'GET')
      const answers = await sendRaw(
        port,
        `${verb} ${path} HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\nConnection: close\r\n\r\n`,
        { silentMs: 5000 },
      )
      expect(answers).toHaveLength(1)
      for (const answer of answers) if (verb !== 'HEAD') expectClean(answer)
    }),
    { numRuns: 400 },
  )
})

const json = fc.oneof(
  fc.json(),
  fc.json().map((text) => text.slice(0, -1)),
  fc.record({ Regex: fc.anything(), Records: fc.anything() }).map((value) => {
    try {
      return JSON.stringify(value) ?? ''
    } catch {
      return '{'
    }
  }),
  fc.string(),
)
const jsonTarget = fc.constantFrom(
  'POST /api/dns',
  'PUT /api/ledger/b/k',
  'PUT /api/ledger/dns/x',
  'PUT /api/ledger/users/x',
)

test('any body is answered cleanly', { timeout: 60_000 }, async () => {
  expect.hasAssertions()
  await fc.assert(
    fc.asyncProperty(jsonTarget, json, async (line, body) => {
      const headers = {
        'Content-Type': 'application/json',
        'Content-Length': String(Buffer.byteLength(body)),
      }
      expectClean(await ask(port, line, headers, body))
    }),
    { numRuns: 300 },
  )
})

const headerLine = fc.tuple(
  fc.constantFrom(
    'Host',
    'Origin',
    'Content-Type',
    'Content-Length',
    'Transfer-Encoding',
    'Expect',
    'If-None-Match',
    'Sec-Fetch-Site',
    'Upgrade',
    'Connection',
    'Accept-Encoding',
    'Last-Event-ID',
    'X',
    ' ',
    'Range',
  ),
  fc.oneof(
    fc.constantFrom(
      'chunked',
      '0',
      '-1',
      '5',
      '1e9',
      'localhost',
      'gzip',
      '100-continue',
      'h2c',
      'Upgrade',
      '*',
      '',
    ),
    fc.string({ maxLength: 20 }),
  ),
)
test('any headers are answered cleanly', { timeout: 60_000 }, async () => {
  expect.hasAssertions()
  await fc.assert(
    fc.asyncProperty(
      fc.constantFrom('GET', 'PUT', 'POST', 'DELETE', 'OPTIONS'),
      fc.array(headerLine, { maxLength: 6 }),
      fc.string({ maxLength: 40 }),
      async (verb, lines, body) => {
        const head = lines.map(([name, value]) => `${name}: ${value}\r\n`).join('')
        const bytes = `${verb} /api/ledger/b/k HTTP/1.1\r\nHost: localhost\r\n${head}\r\n${body}`
        const answers = await sendRaw(port, bytes, { silentMs: 40 })
        for (const answer of answers) expectClean(answer)
      },
    ),
    { numRuns: 300 },
  )
})

test('any bytes are answered cleanly or not at all', { timeout: 60_000 }, async () => {
  const bytes = fc.oneof(
    fc.uint8Array({ maxLength: 300 }).map((array) => Buffer.from(array)),
    fc.string({ maxLength: 200 }).map((text) => Buffer.from(`GET /api/summary HTTP/1.1\r\n${text}`)),
    fc.string({ maxLength: 200 }).map((text) => Buffer.from(`${text} HTTP/1.1\r\nHost: localhost\r\n\r\n`)),
  )
  await fc.assert(
    fc.asyncProperty(bytes, async (sent) => {
      for (const answer of await sendRaw(port, sent, { silentMs: 40 })) expectClean(answer)
    }),
    { numRuns: 200 },
  )
  expect(await node.client.getLiveness()).toBe('ok\n')
})

const close = 'Host: localhost\r\nConnection: close\r\n'
test.each([
  ['no HTTP', 'hello\r\n\r\n', 400],
  ['another protocol', '\u0016\u0003\u0001\u0002\u0000\u0001\u0000\u0001', 400],
  ['a lower-case method', `get /api/summary HTTP/1.1\r\n${close}\r\n`, 400],
  ['an unknown method', `FETCH /api/summary HTTP/1.1\r\n${close}\r\n`, 400],
  ['a space in the path', `GET /api/ledger/b/a b HTTP/1.1\r\n${close}\r\n`, 400],
  ['raw UTF-8 in the path', `GET /api/ledger/b/é HTTP/1.1\r\n${close}\r\n`, 400],
  ['NUL in the path', `GET /api/\0 HTTP/1.1\r\n${close}\r\n`, 400],
  ['no path', `GET  HTTP/1.1\r\n${close}\r\n`, 400],
  ['a path without slash', `GET api/summary HTTP/1.1\r\n${close}\r\n`, 400],
  ['a star for GET', `GET * HTTP/1.1\r\n${close}\r\n`, 400],
  ['NUL in a header', `GET /api/summary HTTP/1.1\r\nX: a\0b\r\n${close}\r\n`, 400],
  ['a header without colon', `GET /api/summary HTTP/1.1\r\nnope\r\n${close}\r\n`, 400],
  [
    'length and chunks',
    `PUT /api/ledger/b/k HTTP/1.1\r\nContent-Length: 3\r\nTransfer-Encoding: chunked\r\n${close}\r\n0\r\n\r\n`,
    400,
  ],
  [
    'two lengths',
    `PUT /api/ledger/b/k HTTP/1.1\r\nContent-Length: 3\r\nContent-Length: 4\r\n${close}\r\nabcd`,
    400,
  ],
  ['a negative length', `PUT /api/ledger/b/k HTTP/1.1\r\nContent-Length: -3\r\n${close}\r\nabc`, 400],
  [
    'a bad chunk',
    `PUT /api/ledger/b/k HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${close}\r\nzz\r\nabc`,
    400,
  ],
  [
    'a body announced as huge',
    `PUT /api/ledger/b/k HTTP/1.1\r\nContent-Length: 99999999\r\n${close}\r\nabc`,
    413,
  ],
  ['a tunnel', `CONNECT evil.example:443 HTTP/1.1\r\n${close}\r\n`, 405],
  [
    'an upgrade',
    `GET /api/summary HTTP/1.1\r\nUpgrade: h2c\r\nHost: localhost\r\nConnection: Upgrade, close\r\n\r\n`,
    200,
  ],
  ['HTTP/2 by surprise', 'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n', 400],
  ['an unknown version', `GET /api/summary HTTP/3.7\r\n${close}\r\n`, 400],
  ['an unknown expectation', `GET /api/summary HTTP/1.1\r\nExpect: wonders\r\n${close}\r\n`, 200],
])('%s', async (_what, bytes, status) => {
  const answers = await sendRaw(port, bytes, { silentMs: 2000 })
  expect(answers.map((answer) => answer.status)).toEqual([status])
  for (const answer of answers) expectClean(answer)
})

test.each([
  ['a path of 60 KiB', `GET /api/ledger/b/${'x'.repeat(60 << 10)} HTTP/1.1\r\n${close}\r\n`, 414],
  ['a path of 300 KiB', `GET /api/ledger/b/${'x'.repeat(300 << 10)} HTTP/1.1\r\n${close}\r\n`, 414],
  ['a header of 300 KiB', `GET /api/summary HTTP/1.1\r\nX: ${'x'.repeat(300 << 10)}\r\n${close}\r\n`, 431],
  [
    'many headers of 300 KiB',
    `GET /api/summary HTTP/1.1\r\n${'X: yyyyyyyyyyyyyyyyyyyyyyyyyyyyyy\r\n'.repeat(10_000)}${close}\r\n`,
    431,
  ],
  ['2,000 headers', `GET /api/summary HTTP/1.1\r\n${'X: y\r\n'.repeat(2000)}${close}\r\n`, 431],
  ['headers of 4 MiB', `GET /api/summary HTTP/1.1\r\nX: ${'x'.repeat(4 << 20)}\r\n${close}\r\n`, 431],
])('%s', async (_what, bytes, status) => {
  const [answer] = await sendRaw(port, bytes, { silentMs: 3000 })
  expect(answer?.status).toBe(status)
  if (answer !== undefined) expectClean(answer)
})

test('headers and a path below their limits are served', async () => {
  const { status } = await ask(port, `GET /api/summary?x=${'x'.repeat(50 << 10)}`, {
    A: 'y'.repeat(10 << 10),
  })
  expect(status).toBe(200)
})

test('a body without end is refused while it comes', async () => {
  const head = `PUT /api/ledger/b/k HTTP/1.1\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\n${close}\r\n`
  const chunk = `10000\r\n${'1'.repeat(0x10000)}\r\n`
  const [answer] = await sendRaw(port, [head, chunk, chunk, chunk, chunk], { silentMs: 3000 })
  expect(answer?.status).toBe(413)
})

test('a client that asks before it sends its body is told before it sends it', async () => {
  const head = (length: number) =>
    `PUT /api/ledger/b/k HTTP/1.1\r\nContent-Type: application/json\r\nContent-Length: ${length}\r\nExpect: 100-continue\r\n${close}\r\n`
  expect((await sendRaw(port, head(1 << 20), { silentMs: 1000 })).map(({ status }) => status)).toEqual([413])
  expect((await sendRaw(port, head(1), { silentMs: 200 })).map(({ status }) => status)).toEqual([100])
  expect((await sendRaw(port, `${head(1)}1`, { silentMs: 1000 })).map(({ status }) => status)).toEqual([
    100, 200,
  ])
})

test('pipelined requests are answered in order, up to a broken one', async () => {
  const get = (path: string) => `GET ${path} HTTP/1.1\r\nHost: localhost\r\n\r\n`
  const put = 'PUT /api/ledger/b/k/v?wait=1s HTTP/1.1\r\nHost: localhost\r\nContent-Length: 0\r\n\r\n'
  const answers = await sendRaw(
    port,
    put + get('/api/none') + get('/healthz') + get('/api/ledger/%00') + 'garbage\r\n\r\n',
    {
      silentMs: 2000,
    },
  )
  expect(answers.map(({ status }) => status)).toEqual([200, 404, 200, 400, 400])
  expect(answers[0]?.body).toContain('Committed')
})

test('many pipelined requests are all answered', async () => {
  const get = 'GET /api/summary HTTP/1.1\r\nHost: localhost\r\n\r\n'
  const answers = await sendRaw(port, get.repeat(2000), { silentMs: 2000 })
  expect(answers.filter(({ status }) => status === 200)).toHaveLength(2000)
})

test('who sends a request too slowly is told so, and cut off', async () => {
  const timeouts = { headersTimeout: 300, requestTimeout: 600, connectionsCheckingInterval: 50 }
  const server = createHttpServer(
    (_req, res) => res.end('never'),
    { clock: systemClock, random: systemRandom },
    timeouts,
  )
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const address = server.address()
  const slowPort = typeof address === 'object' && address !== null ? address.port : 0
  for (const sent of [
    '',
    'GET /api/summary HTTP/1.1\r\nHost: lo',
    'PUT /api/ledger/b/k HTTP/1.1\r\nHost: localhost\r\n',
  ]) {
    const [answer] = await sendRaw(slowPort, sent, { silentMs: 5000 })
    expect(answer?.status).toBe(408)
    if (answer !== undefined) expectClean(answer)
  }
  await new Promise((resolve) => server.close(resolve))
})

test('a hundred connections that say nothing stop nobody', async () => {
  const silent = Array.from({ length: 100 }, () => connect(port, '127.0.0.1'))
  const half = Array.from({ length: 100 }, () => {
    const socket = connect(port, '127.0.0.1')
    socket.write('GET /api/summary HTTP/1.1\r\nHost: l')
    return socket
  })
  expect((await node.client.getSummary()).NodeID).toBe(node.ledger.self)
  for (const socket of [...silent, ...half]) socket.destroy()
})

test.each([
  ['a path of dots', `/${'.'.repeat(57_000)}/`, 200],
  ['a path of slashes', `/${'a/'.repeat(28_000)}`, 200],
  ['a query of parameters that there are not', `/api/ledger?${'a&'.repeat(28_000)}`, 400],
  ['a path of the API without an end', `/api/ledger/${'a/'.repeat(28_000)}`, 405],
])('%s is answered in the time of its length', async (_what, path, status) => {
  const began = performance.now()
  const answer = await ask(port, `GET ${path}`)
  expectClean(answer)
  expect(answer.status).toBe(status)
  expect(performance.now() - began).toBeLessThan(2_000)
})

test('of thousands of things that are wrong an answer names some', async () => {
  const wrong = Array.from({ length: 13_000 }, (_, at) => [`"${at}"`, 1].join(':')).join(',')
  const body = `{"Regex":"a","Records":{${wrong}}}`
  const answer = await ask(port, 'POST /api/dns', { 'Content-Type': 'application/json' }, body)
  expectClean(answer)
  expect(errorBody.parse(JSON.parse(answer.body)).Issues).toHaveLength(MAX_ISSUES)
})
