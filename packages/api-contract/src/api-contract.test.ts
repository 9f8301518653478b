import { readFileSync } from 'node:fs'
import { Validator } from '@seriousme/openapi-schema-validator'
import { expect, test } from 'vitest'
import * as contract from './index.ts'
import {
  dnsRecordsByName,
  dnsTypeName,
  type ErrorCode,
  errorCatalogue,
  hintOf,
  isErrorCode,
  type RouteDefinition,
  routes,
  tryParseDnsType,
} from './index.ts'
import { jsonMap } from './json-map.ts'
import { bucketName, entryKey, waitDuration } from './names.ts'
import { buildOpenApiDocument } from './openapi.ts'
import { uint64 } from './views/fields.ts'
import { bucketView, signedEntryView } from './views/ledger.ts'
import { vpnView } from './views/vpn.ts'

test('has these public names', () => {
  expect(Object.keys(contract).sort()).toEqual([
    'DROP_REASONS',
    'EVENT_HEARTBEAT_MS',
    'EVENT_HISTORY_SIZE',
    'EVENT_RING_SIZE',
    'EVENT_SILENCE_MS',
    'KEPT_BLOCKS',
    'KEPT_LOG_LINES',
    'KEPT_TRAFFIC_STEPS',
    'MAX_ADDRESS_BYTES',
    'MAX_BODY_BYTES',
    'MAX_BUCKET_BYTES',
    'MAX_CHANGES_PER_EVENT',
    'MAX_HEAD_BYTES',
    'MAX_KEY_BYTES',
    'MAX_LISTED_BLOCKS',
    'MAX_PAGE_ENTRIES',
    'MAX_PATH_BYTES',
    'MAX_TOLD_FLOWS',
    'MAX_TOLD_PATHS',
    'MAX_UPLOAD_BYTES',
    'MAX_UPLOAD_PIECE_BYTES',
    'MAX_VALUE_BYTES',
    'MAX_WAIT_MS',
    'TRAFFIC_STEP_SECONDS',
    'dnsRecordsByName',
    'dnsTypeName',
    'entryPathOf',
    'errorBody',
    'errorCatalogue',
    'eventSchemas',
    'eventTypes',
    'hintOf',
    'isErrorCode',
    'levelOf',
    'retryAfterSecondsOf',
    'routes',
    'tryParseDnsType',
  ])
})

test('the checked-in OpenAPI document is the one that the contract gives', () => {
  const checkedIn = JSON.parse(readFileSync(new URL('../openapi.json', import.meta.url), 'utf8'))
  // after a change of the contract: npm --prefix packages/api-contract run generate
  expect(checkedIn).toEqual(JSON.parse(JSON.stringify(buildOpenApiDocument())))
})

test('the OpenAPI document has every route under its id', () => {
  const paths = Object.values(buildOpenApiDocument().paths)
  const ids = paths.flatMap((path) =>
    [path.get, path.put, path.post, path.delete].map((op) => op?.operationId),
  )
  expect(ids.filter((id) => id !== undefined).sort()).toEqual(Object.keys(routes).sort())
})

test('the OpenAPI document is valid, and every reference points to something', async () => {
  const validator = new Validator()
  const document = JSON.parse(JSON.stringify(buildOpenApiDocument()))
  expect(await validator.validate(document)).toEqual({ valid: true })
  expect(validator.version).toBe('3.1')
  const references = JSON.stringify(document).matchAll(/"\$ref":"#\/components\/schemas\/([^"]+)"/g)
  const known = Object.keys(document.components.schemas)
  for (const [, name] of references) expect(known).toContain(name)
  expect(JSON.stringify(document)).not.toContain('$defs')
})

test('no two routes share method and path, and every parameter has a schema', () => {
  const all = Object.values<RouteDefinition>(routes)
  expect(new Set(all.map((route) => `${route.method} ${route.path}`)).size).toBe(all.length)
  for (const route of all) {
    const inPath = [...route.path.matchAll(/[:*](\w+)/g)].map(([, name]) => String(name))
    expect(inPath).toEqual(Object.keys(route.params?.shape ?? {}))
  }
})

test('every error has a status that the API uses, a title and a hint of one sentence', () => {
  const statuses = [400, 401, 403, 404, 405, 408, 409, 413, 414, 415, 421, 429, 431, 500, 503, 507]
  for (const { status, title, hint } of Object.values(errorCatalogue)) {
    expect(statuses).toContain(status)
    expect(title).toMatch(/^[A-Z][^.]+$/)
    expect(hint).toMatch(/^[A-Z].+\.$/)
  }
})

test('knows its own codes only', () => {
  expect(isErrorCode('ledger.not_owner')).toBe(true)
  expect(isErrorCode('toString')).toBe(false)
  expect(isErrorCode('__proto__')).toBe(false)
})

test('DNS types have names, and unknown ones numbers', () => {
  expect(dnsTypeName(1)).toBe('A')
  expect(dnsTypeName(65_280)).toBe('TYPE65280')
  expect(['A', 'aaaa', 'TYPE65280', 'type1', 'TYPE0'].map(tryParseDnsType)).toEqual([1, 28, 65_280, 1, 0])
  expect(['', 'NOPE', 'TYPE65536', 'TYPE-1', 'toString', '__proto__', '1'].map(tryParseDnsType)).toEqual(
    Array.from({ length: 7 }),
  )
})

test('a dns value shows names; what has no number stays, and a number beats a name', () => {
  const shown = dnsRecordsByName(
    JSON.parse('{"1":"10.1.0.11","A":"x","65280":"y","nope":"z","__proto__":"p"}'),
  )
  expect({ ...shown }).toEqual(JSON.parse('{"A":"10.1.0.11","TYPE65280":"y","nope":"z","__proto__":"p"}'))
})

test('a map keeps every key, __proto__ too, and names the path of what is wrong', () => {
  const parsed = bucketView().parse(JSON.parse('{"__proto__":{"a":1},"constructor":2}'))
  expect(Object.keys(parsed)).toEqual(['__proto__', 'constructor'])
  expect(Object.getPrototypeOf(parsed)).toBeNull()
  expect(jsonMap(uint64()).safeParse({ fine: 1, wrong: -1 }).error?.issues[0]?.path).toEqual(['wrong'])
})

test('versions are bigint, however large', () => {
  const entry = { Value: '', Owner: '', UpdatedAt: 1, Deleted: true, Sig: null }
  expect(signedEntryView().parse({ ...entry, Version: 7 }).Version).toBe(7n)
  expect(signedEntryView().parse({ ...entry, Version: 2n ** 64n - 1n }).Version).toBe(2n ** 64n - 1n)
  expect(signedEntryView().safeParse({ ...entry, Version: 1.5 }).success).toBe(false)
})

test('names are bounded in UTF-8 bytes, and the answer has limit and size', () => {
  expect(bucketName.safeParse('é'.repeat(128)).success).toBe(true)
  expect(bucketName.safeParse('é'.repeat(129)).error?.issues[0]?.message).toBe(
    'at most 256 bytes in UTF-8, this has 258',
  )
  expect(entryKey.safeParse('').success).toBe(false)
  expect(entryKey.safeParse('a\0').success).toBe(false)
})

test('a wait is cut to 60 s and has one form', () => {
  expect(waitDuration.parse('1h')).toBe(60_000)
  expect(waitDuration.parse('500ms')).toBe(500)
  const accepted = ['', '5', '-5s', 'abc', '5 s'].filter((text) => waitDuration.safeParse(text).success)
  expect(accepted).toEqual([])
})

test('hints for requests name requests, and hints for the command line name commands', () => {
  const codes = Object.keys(errorCatalogue) as ErrorCode[]
  const ofCommands = /`mesh (status|ping|ledger|config|version)/
  const ofRequests = /\b(GET|PUT|POST|DELETE) |[Hh]eader|\bIssues\b|RequestID|Retry-After/
  expect(codes.filter((code) => ofCommands.test(hintOf(code, 'http')))).toEqual([])
  expect(codes.filter((code) => ofRequests.test(hintOf(code, 'command')))).toEqual([])
  expect(hintOf('vpn.unknown_machine', 'http')).toContain('GET /api/vpn')
  expect(hintOf('vpn.unknown_machine', 'command')).toContain('`mesh status`')
})

test('the VPN of a node that knows nothing of exit offers yet is read as one without any', () => {
  const counters = { PacketsIn: 0, PacketsOut: 0, BytesIn: 0, BytesOut: 0, Drops: {} }
  const udp = { State: 'none', Reason: 'searching', Endpoint: null, RoundTripMs: null }
  const peer = {
    PeerID: '12D3KooWSMnqV22fkVTGvcKcR9gQEHXbfEyAJTQsHPu44E8EXMN3',
    Hostname: 'hub',
    Addresses: [],
    Routes: [],
    Way: 'unknown',
    Path: null,
    Transport: null,
    RoundTripMs: null,
    UDP: udp,
    MTU: 1_280,
    Since: null,
    ...counters,
  }
  const view = {
    State: 'running',
    Interface: 'mesh0',
    MTU: 1_280,
    Offload: true,
    Addresses: [],
    Routes: { Advertised: [], Accepted: [] },
    ExitNode: null,
    Peers: [peer],
    Drops: {},
    Ignored: {},
    Refusals: {},
  }
  expect(vpnView().parse(view)).toMatchObject({ OffersExit: null, Peers: [{ OffersExit: null }] })
})
