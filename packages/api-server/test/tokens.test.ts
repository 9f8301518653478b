/** Who is let in where the node asks for tokens, on each kind of listener. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type AccessLevel, levelOf, type RouteDefinition, routes } from '@mesh/api-contract'
import { createNodeClient } from '@mesh/api-client/node'
import { systemRandom } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createAuthenticator } from '../src/auth/authenticator.ts'
import { type ApiToken, createToken, parseTokenList } from '../src/index.ts'
import { startTestNode, type TestNode } from './fixture.ts'
import { ask } from './raw-http.ts'

const made = createToken({ level: 'write', name: 'backup' }, systemRandom)
const FILE = `# who may ask\n\nread reader-token\n${made.line}\r\nadmin admin-token  the boss \n`
let tokens: readonly ApiToken[] = parseTokenList(FILE).tokens
const BEARER = { read: 'reader-token', write: made.token, admin: 'admin-token' } as const

let node: TestNode
let readOnly: TestNode
const folder = mkdtempSync(join(tmpdir(), 'mesh-tokens-'))
const controlSocket = join(folder, 'control.sock')
beforeAll(async () => {
  node = await startTestNode({
    corsOrigins: ['https://app.example'],
    components: { tokens: { current: () => tokens } },
  })
  readOnly = await startTestNode({ isReadOnly: true })
  await readOnly.server.listen({ kind: 'unix', path: join(folder, 'ro.sock'), isControl: true })
  await node.server.listen({ kind: 'unix', path: controlSocket, mode: 0o600, isControl: true })
})
afterAll(async () => {
  await node.stop()
  await readOnly.stop()
  rmSync(folder, { recursive: true })
})

const asked = (line: string, token?: string, headers = {}) =>
  ask(node.listener.port, line, {
    ...headers,
    ...(token !== undefined && { Authorization: `Bearer ${token}` }),
  })

/** The path of a route with something in each parameter. */
function pathOf(route: RouteDefinition): string {
  return route.path.replaceAll(/[:*]\w+/g, 'x')
}

test('every route asks for its level, and lets nobody in without a token', async () => {
  const order: readonly AccessLevel[] = ['open', 'read', 'write', 'admin']
  for (const [id, route] of Object.entries<RouteDefinition>(routes)) {
    if (id === 'watchEvents') continue
    const level = levelOf(route)
    const none = await asked(`${route.method} ${pathOf(route)}`)
    expect([id, none.status === 401]).toEqual([id, level !== 'open'])
    for (const held of ['read', 'write', 'admin'] as const) {
      const { status, body } = await asked(`${route.method} ${pathOf(route)}`, BEARER[held])
      const isRefused = status === 403 && JSON.parse(body).Code === 'http.level_too_low'
      expect([id, held, isRefused]).toEqual([id, held, order.indexOf(held) < order.indexOf(level)])
      expect(status).not.toBe(401)
    }
  }
}, 30_000)

test('a refusal says what to do, and in the header what is asked for', async () => {
  const none = await asked('GET /api/summary')
  expect(none.headers.get('www-authenticate')).toBe('Bearer realm="mesh"')
  expect(JSON.parse(none.body)).toMatchObject({
    Code: 'http.unauthorized',
    Hint: expect.stringContaining('Bearer'),
  })
  const wrong = await asked('GET /api/summary', 'another')
  expect(wrong.status).toBe(401)
  expect(wrong.headers.get('www-authenticate')).toContain('error="invalid_token"')
  const low = await asked('PUT /api/ledger/b/k/v', BEARER.read)
  expect(low.status).toBe(403)
  expect(JSON.parse(low.body)).toMatchObject({
    Message: expect.stringContaining('write'),
    Issues: [{ Field: 'Authorization', Value: 'read', Expected: 'a token of the level write' }],
  })
  expect(low.body).not.toContain('reader-token')
})

test.each(['Basic cmVhZGVyLXRva2Vu', 'reader-token', 'Bearer', 'Bearer a b', `Bearer ${'x'.repeat(2_000)}`])(
  'what is no token in %j lets nobody in',
  async (authorization) => {
    const { status } = await ask(node.listener.port, 'GET /api/summary', { Authorization: authorization })
    expect(status).toBe(401)
  },
)

test('the scheme is read in any case', async () => {
  const headers = { Authorization: `bEARER  ${BEARER.read}` }
  expect((await ask(node.listener.port, 'GET /api/summary', headers)).status).toBe(200)
})

test('the page, its files and the probes are open; the metrics and what is under /debug are not', async () => {
  const status = async (path: string, token?: string) => (await asked(`GET ${path}`, token)).status
  for (const path of ['/', '/machines', '/index.html', '/healthz', '/readyz'])
    expect([path, await status(path)]).toEqual([path, 200])
  for (const path of ['/metrics', '/debug/pprof/', '/debug', '/api/events', '/api/openapi.json'])
    expect([path, await status(path)]).toEqual([path, 401])
  expect(await status('/metrics', BEARER.read)).toBe(200)
  expect(await status('/debug/pprof/', BEARER.write)).toBe(403)
  expect(await status('/debug/pprof/', BEARER.admin)).toBe(200)
})

test('a page of another origin is refused before its token is looked at; an allowed one asks beforehand without', async () => {
  const cross = { 'Sec-Fetch-Site': 'cross-site', Origin: 'http://evil.example' }
  const foreign = await asked('GET /api/summary', BEARER.admin, cross)
  expect([foreign.status, JSON.parse(foreign.body).Code]).toEqual([403, 'http.cross_site'])
  const allowed = { ...cross, Origin: 'https://app.example' }
  const preflight = await asked('OPTIONS /api/summary', undefined, allowed)
  expect(preflight.status).toBe(204)
  expect(preflight.headers.get('access-control-allow-headers')).toContain('Authorization')
  const refused = await asked('GET /api/summary', undefined, allowed)
  expect(refused.status).toBe(401)
  // so that the page can read why
  expect(refused.headers.get('access-control-allow-origin')).toBe('https://app.example')
  expect((await asked('GET /api/summary', BEARER.read, allowed)).status).toBe(200)
})

test('a unix socket for others asks for a token, and the control socket for none', async () => {
  await expect(node.unixClient.getSummary()).rejects.toMatchObject({ code: 'http.unauthorized' })
  const withToken = createNodeClient({ baseUrl: node.unix.url, token: BEARER.read })
  expect(await withToken.getSummary()).toHaveProperty('NodeID')
  const control = createNodeClient({ baseUrl: `unix://${controlSocket}` })
  expect(await control.putText({ bucket: 'b', key: 'k', value: 'v' })).toEqual({ State: 'Announcing' })
})

test('what is for reading only takes writes on the control socket alone', async () => {
  expect(await readOnly.client.getSummary()).toHaveProperty('NodeID')
  const write = { bucket: 'b', key: 'k', value: 'v' }
  for (const client of [readOnly.client, readOnly.unixClient])
    await expect(client.putText(write)).rejects.toMatchObject({ code: 'http.read_only', status: 403 })
  await expect(readOnly.client.deleteEntry(write)).rejects.toMatchObject({ code: 'http.read_only' })
  await expect(readOnly.client.putPeergate({ state: 'enable' })).rejects.toMatchObject({
    code: 'http.read_only',
  })
  const control = createNodeClient({ baseUrl: `unix://${join(folder, 'ro.sock')}` })
  expect(await control.putText(write)).toEqual({ State: 'Announcing' })
})

test('a token that is revoked ends at once, and with it the stream of events', async () => {
  const before = tokens
  const { port } = node.listener
  const stream = await fetch(`http://127.0.0.1:${port}/api/events`, {
    headers: { Authorization: `Bearer ${BEARER.read}` },
  })
  expect(stream.status).toBe(200)
  tokens = tokens.filter(({ level }) => level !== 'read')
  try {
    expect((await asked('GET /api/summary', BEARER.read)).status).toBe(401)
    node.emit({ type: 'peer.disconnected', peer: 'nobody' })
    expect(await stream.text()).not.toContain('peer.disconnected')
  } finally {
    tokens = before
  }
})

test('no form of a line but the three is a token, and none is shown', () => {
  const { tokens: taken, issues } = parseTokenList(
    `read ok\nroot x\nread\nadmin two words here\nREAD x\nread sha256:12\nread a"b\nopen x\n`,
  )
  expect(taken.map(({ level, name, plain }) => [level, name, plain])).toEqual([
    ['read', '', 'ok'],
    ['admin', 'words here', 'two'],
  ])
  expect(issues.map(({ field }) => field)).toEqual([
    'line 2',
    'line 3',
    'line 5',
    'line 6',
    'line 7',
    'line 8',
  ])
  expect(issues.every(({ value }) => value === '')).toBe(true)
  expect(made.line).not.toContain(made.token)
})

function guess(
  authenticator: ReturnType<typeof createAuthenticator>,
  address: string,
  token: string,
): string {
  const req = {
    method: 'GET',
    headers: { authorization: `Bearer ${token}` },
    socket: { remoteAddress: address },
  }
  try {
    authenticator.check(req as never, 'read')
    return 'in'
  } catch (error) {
    return (error as { code: string }).code
  }
}

test('who tries many tokens has to wait, a right one too, and an old page with one wrong token does not', async () => {
  const clock = createManualClock()
  const port = { current: () => tokens }
  const authenticator = createAuthenticator({ tokens: port, isReadOnly: false }, clock)
  for (let at = 0; at < 100; at++) expect(guess(authenticator, '10.0.0.9', 'stale')).toBe('http.unauthorized')
  const tries = Array.from({ length: 15 }, (_, at) => guess(authenticator, '10.0.0.1', `t${at}`))
  expect(tries.filter((code) => code === 'http.unauthorized')).toHaveLength(10)
  expect(guess(authenticator, '10.0.0.1', BEARER.read)).toBe('http.too_many_failures')
  // nobody guesses 256 random bits
  expect(guess(authenticator, '10.0.0.1', BEARER.write)).toBe('in')
  expect(guess(authenticator, '10.0.0.2', BEARER.read)).toBe('in')
  await clock.advance(60_001)
  expect(guess(authenticator, '10.0.0.1', BEARER.read)).toBe('in')
})

test('many addresses that try together wait too, and who was right before does not', () => {
  const authenticator = createAuthenticator(
    { tokens: { current: () => tokens }, isReadOnly: false },
    createManualClock(),
  )
  expect(guess(authenticator, '10.0.0.2', BEARER.read)).toBe('in')
  for (let at = 0; at < 1_000; at++) guess(authenticator, `fd00:0:0:${at.toString(16)}::1`, `t${at}`)
  expect(guess(authenticator, 'fd01::1', BEARER.read)).toBe('http.too_many_failures')
  expect(guess(authenticator, '10.0.0.2', BEARER.read)).toBe('in')
})
