import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import * as index from './index.ts'
import { ApiError, createClient, type FetchInit } from './index.ts'
import * as node from './node.ts'
import { createNodeClient } from './node.ts'
import { parseRetryAfter } from './retry-after.ts'

const cleanups: (() => void)[] = []
afterEach(() => {
  for (const cleanup of cleanups.splice(0)) cleanup()
})

/** A client whose requests are recorded and answered by `answer`. */
function scripted(answer: (url: string, init: FetchInit) => Response | Promise<Response>) {
  const asked: { url: string; init: FetchInit }[] = []
  const clock = createManualClock()
  const client = createClient({
    baseUrl: 'http://node/',
    clock,
    random: createSeededRandom(1),
    fetch: async (url, init) => {
      asked.push({ url, init })
      return answer(url, init)
    },
  })
  return { client, asked, clock }
}
const never = (_url: string, init: FetchInit) =>
  new Promise<Response>((_resolve, reject) =>
    init.signal.addEventListener('abort', () => reject(init.signal.reason)),
  )
const failure = (promise: Promise<unknown>) =>
  promise.then(
    () => expect.unreachable('did not fail'),
    (error: unknown) => error as ApiError,
  )

test('has these public names', () => {
  expect(Object.keys(index).sort()).toEqual(['ApiError', 'createClient'])
  expect(Object.keys(node).sort()).toEqual(['createNodeClient', 'unixFetch'])
})

test('encodes each name once, whatever it contains', async () => {
  const { client, asked } = scripted(() => Response.json({ State: 'Announcing' }))
  await client.putText({ bucket: 'a/b', key: '^x\\.y$', value: 'c/d?#%2F', wait: '5s' })
  expect(asked[0]?.url).toBe('http://node/api/ledger/a%2Fb/%5Ex%5C.y%24/c%2Fd%3F%23%252F?wait=5s')
  expect(asked[0]?.init.method).toBe('PUT')
})

test.each(['', '.', '..', '\ud800'])('refuses the name %j before asking', async (key) => {
  const { client, asked } = scripted(() => Response.json({}))
  expect(await failure(client.getEntry({ bucket: 'b', key }))).toMatchObject({
    code: 'client.bad_name',
    issues: [{ field: 'key' }],
  })
  expect(asked).toEqual([])
})

test('sends and reads integers beyond 2^53 with all digits', async () => {
  const { client, asked } = scripted((_url, { method }) =>
    method === 'PUT'
      ? Response.json({ State: 'Announcing' })
      : new Response(
          '{"Value":"","Owner":"","Version":1795228706793270807,"UpdatedAt":1,"Deleted":true,"Sig":null}',
        ),
  )
  await client.putJson({ bucket: 'b', key: 'k', body: { n: 1795228706793270807n } })
  expect(asked[0]?.init.body).toBe('{"n":1795228706793270807}')
  expect((await client.getSignedEntry({ bucket: 'b', key: 'k' })).Version).toBe(1795228706793270807n)
})

test('an error answer becomes a typed error with all that the node said', async () => {
  const { client } = scripted(() =>
    Response.json(
      {
        Code: 'ledger.not_owner',
        Message: 'owned by nas',
        Hint: 'Wait.',
        RequestID: 'r1',
        Issues: [{ Field: 'key', Value: 'k', Expected: 'a key of yours' }],
        Owner: 'nas',
        LeaseEndsAt: '2026-01-01T00:00:00Z',
      },
      { status: 409 },
    ),
  )
  const error = await failure(client.deleteEntry({ bucket: 'b', key: 'k' }))
  expect(error).toBeInstanceOf(ApiError)
  expect(error).toMatchObject({
    code: 'ledger.not_owner',
    message: 'owned by nas',
    hint: 'Wait.',
    status: 409,
    requestId: 'r1',
    owner: 'nas',
    leaseEndsAt: '2026-01-01T00:00:00Z',
    issues: [{ field: 'key', value: 'k', expected: 'a key of yours' }],
  })
})

test('an answer that is not of this API is said to be so', async () => {
  for (const answer of ['{"message":"Not Found"}', '<html>', '']) {
    const { client } = scripted(() => new Response(answer, { status: 404 }))
    expect(await failure(client.getSummary())).toMatchObject({ code: 'client.bad_answer', status: 404 })
  }
  const { client } = scripted(() => new Response('null'))
  expect(await failure(client.getSummary())).toMatchObject({ code: 'client.bad_answer', status: 200 })
})

test('gives up when its time is over, and later when the call waits for a commit', async () => {
  const { client, clock } = scripted(never)
  const plain = failure(client.getSummary())
  const waiting = failure(client.deleteEntry({ bucket: 'b', key: 'k', wait: '60s' }))
  await clock.advance(31_000)
  expect(await plain).toMatchObject({ code: 'client.timeout' })
  await clock.advance(60_000)
  expect(await waiting).toMatchObject({ code: 'client.timeout' })
  expect(clock.pending).toBe(0)
})

test('rejects with the reason of the caller who aborts', async () => {
  const { client, clock } = scripted(never)
  const controller = new AbortController()
  const asked = failure(client.getSummary({}, { signal: controller.signal }))
  controller.abort(new Error('left the page'))
  expect(await asked).toMatchObject({ message: 'left the page' })
  expect(clock.pending).toBe(0)
})

test('says which address does not answer', async () => {
  const client = createNodeClient({ baseUrl: 'unix:///nonexistent/mesh.sock' })
  const error = await failure(client.getSummary())
  expect(error.code).toBe('client.unreachable')
  expect(error.message).toContain('/nonexistent/mesh.sock')
})

test('asks over a unix socket, with the path as it was encoded', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-client-'))
  const path = join(folder, 'api.sock')
  const server: Server = createServer((req, res) => {
    if (req.method === 'OPTIONS') res.writeHead(204).end()
    else res.end(JSON.stringify(req.url))
  })
  cleanups.push(() => {
    server.closeAllConnections()
    server.close()
    rmSync(folder, { recursive: true })
  })
  await new Promise<void>((resolve) => server.listen(path, resolve))
  const client = createNodeClient({ baseUrl: `unix://${path}` })
  expect(await client.getEntry({ bucket: 'a/b', key: '%2e%2e' })).toBe(
    '/api/ledger/a%2Fb/%252e%252e?values=json',
  )
})

const stream = (text: string) => new Response(text, { headers: { 'content-type': 'text/event-stream' } })
const sent = (id: number, type: string, value: object) =>
  `id: e-${id}\nevent: ${type}\ndata: ${JSON.stringify(value)}\n\n`

test('reads events, skips what it does not know, and continues after the last one', async () => {
  let connection = 0
  const { client, asked, clock } = scripted(() => {
    connection++
    if (connection === 1)
      return stream(
        `id: e-0\n\n${sent(1, 'peer.disconnected', { PeerID: 'a' })}${sent(2, 'of.the.future', {})}` +
          `${sent(3, 'peer.disconnected', { wrong: 1 })}: heartbeat\nid: e-7\n\n`,
      )
    return stream(sent(8, 'gap', {}))
  })
  const states: string[] = []
  const events = client.events({
    types: ['peer.disconnected'],
    onState: ({ state }) => states.push(state),
  })
  expect((await events.next()).value).toEqual({ id: 'e-1', type: 'peer.disconnected', data: { PeerID: 'a' } })
  const next = events.next()
  await clock.advance(1000)
  expect((await next).value).toMatchObject({ id: 'e-8', type: 'gap' })
  expect(asked[0]?.url).toBe('http://node/api/events?types=peer.disconnected')
  expect(asked[1]?.init.headers['last-event-id']).toBe('e-7')
  expect(states).toEqual(['open', 'waiting', 'open'])
  await events.return?.()
  expect(clock.pending).toBe(0)
})

test('an event stream that falls silent is opened again', async () => {
  let connection = 0
  const { client, clock } = scripted((_url, { signal }) => {
    connection++
    if (connection > 1) return stream(sent(1, 'gap', {}))
    const body = new ReadableStream({
      start: (controller) => signal.addEventListener('abort', () => controller.error(signal.reason)),
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  const next = client.events().next()
  await clock.advance(50_000)
  await clock.advance(2_000)
  expect((await next).value).toMatchObject({ type: 'gap' })
})

test('a node that hangs is noticed within ten seconds, and since when it was silent', async () => {
  let connection = 0
  const { client, clock, asked } = scripted((_url, { signal }) => {
    connection++
    if (connection > 1) return never(_url, { signal } as never)
    const body = new ReadableStream({
      start(controller) {
        controller.enqueue(new TextEncoder().encode(sent(1, 'gap', {})))
        signal.addEventListener('abort', () => controller.error(signal.reason))
      },
    })
    return new Response(body, { headers: { 'content-type': 'text/event-stream' } })
  })
  const states: unknown[] = []
  const controller = new AbortController()
  const { signal } = controller
  const events = client.events({ last: 200, signal, onState: ({ ...state }) => states.push(state) })
  await events.next()
  const next = events.next()
  const silentFrom = clock.now()
  await clock.advance(9_999)
  expect(states).toMatchObject([
    { state: 'open' },
    { state: 'waiting', error: { code: 'client.timeout' }, heardAt: silentFrom },
  ])
  await clock.advance(20_000)
  expect(states.length).toBeGreaterThan(2)
  // the past is asked for once
  expect(asked.map(({ url }) => url.includes('last=200'))).toEqual([true, ...asked.slice(1).map(() => false)])
  controller.abort()
  await next
})

test('events end quietly when aborted and loudly when the node refuses', async () => {
  const controller = new AbortController()
  const { client, clock } = scripted(never)
  const next = client.events({ signal: controller.signal }).next()
  controller.abort()
  expect(await next).toMatchObject({ done: true })
  expect(clock.pending).toBe(0)
  const refused = scripted(() => new Response('{}', { status: 403 }))
  expect(await failure(refused.client.events().next())).toMatchObject({ status: 403 })
})

test('an event without end is cut off', async () => {
  let connection = 0
  const { client, clock } = scripted(() => {
    connection++
    return connection === 1 ? stream(`data: ${'x'.repeat(5 << 20)}`) : stream(sent(1, 'gap', {}))
  })
  const states: string[] = []
  const next = client
    .events({
      onState: (state) => states.push(state.state === 'waiting' ? (state.error?.code ?? '') : 'open'),
    })
    .next()
  await clock.advance(1000)
  expect((await next).value).toMatchObject({ type: 'gap' })
  expect(states).toEqual(['open', 'client.bad_answer', 'open'])
})

const notReady = (seconds = '2') =>
  Response.json(
    { Code: 'node.not_ready', Message: 'm', Hint: '', RequestID: 'r', Issues: [] },
    { status: 503, headers: { 'Retry-After': seconds } },
  )
const refused = () => Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' })

/** Answers one after the other, errors thrown, and the last for ever. */
function inTurn(...answers: readonly (() => Response | Error)[]) {
  let at = 0
  const made = scripted(() => {
    const answer = (answers[Math.min(at++, answers.length - 1)] as () => Response | Error)()
    if (answer instanceof Error) throw answer
    return answer
  })
  return made
}

test('a node that takes a connection and closes it may be out of file descriptors, and is not to be started', async () => {
  const cause = Object.assign(new Error('write EPIPE'), { code: 'EPIPE' })
  for (const [error, hint] of [
    [new Error('unix:///x: write EPIPE', { cause }), 'file descriptor'],
    [refused(), 'Start the node'],
  ] as const) {
    const { client, clock } = inTurn(() => error)
    const failed = failure(client.putText({ bucket: 'b', key: 'k', value: 'v' } as never))
    await clock.advance(60_000)
    expect(await failed).toMatchObject({
      code: 'client.unreachable',
      hint: expect.stringContaining(hint) as unknown,
    })
  }
})

test('what only reads is asked again when the connection breaks, and a write is not, since it may be done', async () => {
  const broken = () => new Error('socket hang up')
  const ok = () => Response.json({ State: 'Announcing' })
  const reading = inTurn(broken, broken, () => Response.json(true))
  const read = reading.client.getPeergate()
  await reading.clock.advance(10_000)
  expect(await read).toBe(true)
  expect(reading.asked).toHaveLength(3)
  for (const ask of ['putText', 'deleteEntry', 'createDns'] as const) {
    const writing = inTurn(broken, ok)
    const input = { bucket: 'b', key: 'k', value: 'v', body: { Regex: 'a', Records: {} } }
    const failed = failure(writing.client[ask](input as never))
    await writing.clock.advance(10_000)
    expect(await failed).toMatchObject({ code: 'client.unreachable' })
    expect(writing.asked).toHaveLength(1)
  }
})

test('a write that never reached a node, or that the node says it did not do, is made again', async () => {
  const { client, asked, clock } = inTurn(
    refused,
    () => notReady(),
    () => Response.json({ State: 'Announcing' }),
  )
  const written = client.putText({ bucket: 'b', key: 'k', value: 'v' })
  await clock.advance(250)
  expect(asked).toHaveLength(2)
  await clock.advance(1_749)
  expect(asked).toHaveLength(2)
  await clock.advance(251)
  expect(await written).toEqual({ State: 'Announcing' })
})

test('no call waits beyond its time, however long the node asks it to, or is made without end', async () => {
  const long = inTurn(() => notReady('3600'))
  expect(await failure(long.client.getSummary())).toMatchObject({ status: 503, retryAfterMs: 3_600_000 })
  expect(long.asked).toHaveLength(1)
  const always = inTurn(() => notReady('1'))
  const failed = failure(always.client.getSummary())
  await always.clock.advance(20_000)
  expect(await failed).toMatchObject({ code: 'node.not_ready' })
  expect(always.asked).toHaveLength(3)
  expect(always.clock.pending).toBe(0)
})

test('an error of the caller is not repeated, and neither is one without a time to come back', async () => {
  const answers = [400, 401, 403, 404, 409, 500].map((status) => () => new Response('{}', { status }))
  for (const answer of answers) {
    const { client, asked } = inTurn(answer)
    await failure(client.getSummary())
    expect(asked).toHaveLength(1)
  }
})

test('who aborts waits for no further try', async () => {
  const { client, clock, asked } = inTurn(refused)
  const controller = new AbortController()
  const failed = failure(client.getSummary({}, { signal: controller.signal }))
  await clock.advance(1)
  controller.abort(new Error('left the page'))
  expect(await failed).toMatchObject({ message: 'left the page' })
  expect(asked).toHaveLength(1)
  expect(clock.pending).toBe(0)
})

test('reads a date in Retry-After, and nothing else', () => {
  const now = Date.UTC(2026, 0, 1)
  expect(parseRetryAfter('Thu, 01 Jan 2026 00:00:05 GMT', now)).toBe(5_000)
  expect(parseRetryAfter('Wed, 31 Dec 2025 00:00:05 GMT', now)).toBe(0)
  expect(parseRetryAfter(' 3 ', now)).toBe(3_000)
  for (const text of [null, '', 'soon', '-1x', 'NaN']) expect(parseRetryAfter(text, now)).toBeUndefined()
})

test('the token goes with every request, the stream of events too, and may change', async () => {
  let token: string | undefined = 'first'
  const asked: FetchInit[] = []
  const client = createClient({
    baseUrl: 'http://node',
    token: () => token,
    clock: createManualClock(),
    fetch: async (_url, init) => {
      asked.push(init)
      return init.headers['accept'] === 'text/event-stream' ? stream(sent(1, 'gap', {})) : Response.json(true)
    },
  })
  await client.getPeergate()
  token = 'second'
  await client.events().next()
  token = undefined
  await client.getPeergate()
  expect(asked.map(({ headers }) => headers['authorization'])).toEqual([
    'Bearer first',
    'Bearer second',
    undefined,
  ])
})

test('an event that broke off is not taken for read: the stream goes on before it', async () => {
  const half = `${sent(4, 'peer.disconnected', { PeerID: 'a' })}id: e-5\nevent: peer.disconnected\ndata: {"Pe`
  const made = inTurn(
    () => stream(half),
    () => stream(sent(5, 'peer.disconnected', { PeerID: 'b' })),
  )
  const events = made.client.events()
  await events.next()
  const next = events.next()
  await made.clock.advance(1_000)
  expect((await next).value).toMatchObject({ id: 'e-5', data: { PeerID: 'b' } })
  expect(made.asked[1]?.init.headers['last-event-id']).toBe('e-4')
  await events.return?.()
})

test('a stream that is told to come back later does', async () => {
  const made = inTurn(
    () => notReady('7'),
    () => stream(sent(1, 'gap', {})),
  )
  const next = made.client.events().next()
  await made.clock.advance(6_999)
  expect(made.asked).toHaveLength(1)
  await made.clock.advance(1)
  expect((await next).value).toMatchObject({ type: 'gap' })
})
