/**
 * What nodes of existing networks answered (`recorded-http.json`, of 2026-11-21), asked of ours with the same ledger.
 * Where we decided otherwise, the difference stands here with its reason.
 */
import { readFileSync } from 'node:fs'
import { systemClock } from '@mesh/core'
import { decodeEntries } from '@mesh/ledger'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startTestNode, type TestNode } from './fixture.ts'
import { ask } from './raw-http.ts'

interface Recorded {
  readonly method: string
  readonly path: string
  readonly status: number
  readonly requestHeaders?: Readonly<Record<string, string>>
  readonly requestBody?: string
  readonly body?: string
}

const recorded: readonly Recorded[] = JSON.parse(
  readFileSync(new URL('./vectors/recorded-http.json', import.meta.url), 'utf8'),
)
const block = recorded.find(({ path }) => path === '/api/blockchain')?.body ?? ''
/** The recorded node's time: half a minute after its block. */
const aheadMs = Date.parse('2026-11-21T02:39:30Z') - systemClock.now()
const clock = { ...systemClock, now: () => systemClock.now() + aheadMs }

/** Our status where it is another, by method and path. */
const DECIDED = new Map<string, { readonly status: number; readonly reason: string }>([
  ['GET /api/ledger/nobucket/nokey', { status: 404, reason: 'no live entry' }],
  ['GET /api/ledger/shapes/nokey', { status: 404, reason: 'no live entry' }],
  ['GET /', { status: 200, reason: 'the page is at /' }],
  ['GET /favicon.svg', { status: 404, reason: 'the test has no such file' }],
  ['GET /debug/pprof/', { status: 200, reason: 'without --debug a path of the page' }],
  ['PUT /api/ledger/bk/only', { status: 415, reason: 'takes a JSON body' }],
  [
    'POST /api/dns {"Regex":"^a$","Records":{"A":"1.2.3.4","NOPE":"x"}}',
    { status: 400, reason: 'NOPE is no type' },
  ],
  ['POST /api/dns x', { status: 415, reason: 'not JSON' }],
  ['POST /api/dns ', { status: 415, reason: 'no JSON body' }],
  ['HEAD /api/summary', { status: 200, reason: 'HEAD works where GET does' }],
])

let node: TestNode
beforeAll(async () => {
  node = await startTestNode({ clock })
  const { entries } = decodeEntries(new TextEncoder().encode(block))
  // heartbeats first: they make the owners of the others alive
  for (const isHeartbeat of [true, false]) {
    const wanted = entries.filter(
      ({ bucket, entry }) => (bucket === 'healthcheck') === isHeartbeat && !entry.deleted,
    )
    const { rejected } = node.ledger.merge(wanted, undefined)
    if (rejected.length > 0) throw new Error(`rejected: ${JSON.stringify(rejected)}`)
  }
})
afterAll(() => node.stop())

const send = ({ method, path, requestHeaders, requestBody }: Recorded) =>
  ask(
    node.listener.port,
    `${method} ${path}`,
    { ...requestHeaders, 'Content-Length': String(requestBody?.length ?? 0) },
    requestBody,
  )

const reads = recorded.filter(({ method, path }) => method === 'GET' && path.startsWith('/api'))

test.each(['/api/users', '/api/services', '/api/files', '/api/dns'])(
  '%s answers as recorded',
  async (path) => {
    const before = reads.find((each) => each.path === path)
    const { body } = await ask(node.listener.port, `GET ${path}`)
    expect(JSON.parse(body)).toEqual(JSON.parse(before?.body ?? ''))
  },
)

test.each(['/api/ledger', '/api/ledger/shapes', '/api/ledger/shapes/x', '/api/ledger/users'])(
  '%s?values=text answers as recorded',
  async (path) => {
    const before = reads.find((each) => each.path === path)
    const { body } = await ask(node.listener.port, `GET ${path}?values=text`)
    expect(JSON.parse(body)).toEqual(JSON.parse(before?.body ?? ''))
  },
)

/** Beside what was recorded: additions are allowed, changes are not. */
const ADDED_FIELDS: readonly string[] = ['Addresses']

test.each(['/api/summary', '/api/machines', '/api/metrics', '/api/nodes'])(
  '%s has the recorded fields',
  async (path) => {
    const before = JSON.parse(reads.find((each) => each.path === path)?.body ?? '')
    const now = JSON.parse((await ask(node.listener.port, `GET ${path}`)).body)
    const fields = (answer: object) => Object.keys(Array.isArray(answer) ? answer[0] : answer)
    expect(fields(now).filter((field) => !ADDED_FIELDS.includes(field))).toEqual(fields(before))
  },
)

test('every signed entry stands in the block as it was recorded', async () => {
  const { body } = await ask(node.listener.port, 'GET /api/blockchain')
  const signed = (text: string) =>
    [...text.matchAll(/"Version":(\d+),"UpdatedAt":(\d+),"Deleted":false,"Sig":"([^"]+)"/g)]
      .map(([all]) => all)
      .sort()
  expect(signed(body)).toEqual(signed(block))
  expect(Object.keys(JSON.parse(body))).toEqual(Object.keys(JSON.parse(block)))
})

test.each(recorded)('$method $path has its recorded status, or the decided one', async (each) => {
  const id = `${each.method} ${each.path}`
  const decided = DECIDED.get(each.method === 'POST' ? `${id} ${each.requestBody ?? ''}` : id)
  const check = async () => {
    const { status, headers } = await send(each)
    expect(status).toBe(decided?.status ?? each.status)
    expect(headers.has('allow')).toBe(status === 405 || each.method === 'OPTIONS')
  }
  // what was written just before may not be committed yet
  await (each.method === 'GET' ? eventually(check) : check())
})
