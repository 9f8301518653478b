import ipaddr from 'ipaddr.js'
import { expect, test, vi } from 'vitest'
import * as core from './index.ts'
import {
  cidrContains,
  parseCidr,
  parseExactJson,
  parseIp,
  parsePeerId,
  peerIdFromPublicKey,
  publicKeyOf,
  stringifyExactJson,
  tryParseAddressInRange,
  tryParseDuration,
  tryParseIp,
  tryParsePeerId,
} from './index.ts'
import * as limits from './limits/index.ts'
import * as pattern from './pattern.ts'

const ID = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'

test('has these public names', () => {
  expect(Object.keys(core).sort()).toEqual([
    'BUCKETS',
    'BoundedMap',
    'BoundedRing',
    'Heap',
    'KeyedCounts',
    'MeshError',
    'addressGroup',
    'afterTurns',
    'cidrContains',
    'copyOf',
    'createDeadline',
    'createMemo',
    'delay',
    'dnsRecord',
    'errorsOf',
    'findNearest',
    'fnv1a32',
    'formatAddressInRange',
    'heartbeatValue',
    'isLoopback',
    'isNodeName',
    'isSmallPart',
    'listenAtEachAddress',
    'machineRecord',
    'parseCidr',
    'parseDuration',
    'parseExactJson',
    'parseHeartbeat',
    'parseIp',
    'parsePeerId',
    'parseProviderKey',
    'peerIdFromPublicKey',
    'positionId',
    'printable',
    'printableName',
    'providerKey',
    'providerPrefix',
    'publicKeyOf',
    'serviceRecord',
    'shortPeerId',
    'silentLogger',
    'stringifyExactJson',
    'systemClock',
    'systemRandom',
    'toError',
    'tryParseAddressInRange',
    'tryParseDuration',
    'tryParseIp',
    'tryParsePeerId',
    'untilAborted',
    'userRecord',
    'withDeadline',
  ])
  expect(Object.keys(limits).sort()).toEqual([
    'Scope',
    'TURN_MS',
    'backoffMs',
    'createBackoff',
    'createRate',
    'createTokenBucket',
    'endOfTurn',
    'loopBudget',
  ])
  expect(Object.keys(pattern).sort()).toEqual([
    'MAX_PATTERN_LENGTH',
    'MAX_PATTERN_STEPS',
    'patternFault',
    'readPatternShape',
    'tryParsePattern',
  ])
})

test('a peer id is its public key and back', () => {
  expect(peerIdFromPublicKey(publicKeyOf(parsePeerId(ID)))).toBe(ID)
})

test.each(['', 'Qm', `${ID}x`, ID.replace('A4X', 'A4!'), `${ID.slice(0, -1)}0`, 'bafzaajaiaejcb'])(
  '%j is no peer id',
  (text) => {
    expect(tryParsePeerId(text)).toBeUndefined()
  },
)

test('IP text becomes canonical, odd spellings are refused', () => {
  expect(parseIp('FD00:0:0::0001')).toBe('fd00::1')
  expect(parseIp('10.1.0.11')).toBe('10.1.0.11')
  for (const odd of ['10.1', '010.1.0.1', '0x0a.1.0.1', 'fe80::1%eth0', '10.1.0.1/24', ''])
    expect(tryParseIp(odd)).toBeUndefined()
})

test('a range loses its host bits and contains its own family only', () => {
  expect(parseCidr('10.1.0.11/20')).toBe('10.1.0.0/20')
  expect(parseCidr('fd00::ff/64')).toBe('fd00::/64')
  expect(parseCidr('10.1.0.11/0')).toBe('0.0.0.0/0')
  expect(tryParseAddressInRange('10.1.0.11/24')).toEqual({
    address: '10.1.0.11',
    range: '10.1.0.0/24',
    prefixLength: 24,
  })
  expect(tryParseAddressInRange('10.1.0.11/33')).toBeUndefined()
  expect(cidrContains(parseCidr('10.1.0.0/24'), parseIp('10.1.0.200'))).toBe(true)
  expect(cidrContains(parseCidr('10.1.0.0/24'), parseIp('10.1.1.1'))).toBe(false)
  expect(cidrContains(parseCidr('::/0'), parseIp('10.1.1.1'))).toBe(false)
})

test('durations', () => {
  expect(tryParseDuration('1h30m')).toBe(5_400_000)
  expect(tryParseDuration('1.5s')).toBe(1500)
  for (const bad of ['', '5', '-5s', '5 s', '5sm', 's']) expect(tryParseDuration(bad)).toBeUndefined()
})

test('64-bit integers survive JSON', () => {
  const text = '{"Version":18446744073709551615,"n":[1,2.5,-9007199254740993],"s":"18446744073709551615"}'
  expect(parseExactJson(text)).toEqual({
    Version: 18446744073709551615n,
    n: [1, 2.5, -9007199254740993n],
    s: '18446744073709551615',
  })
  expect(stringifyExactJson(parseExactJson(text))).toBe(text)
})

test('a pattern that nobody would match is told apart from one that is none', () => {
  expect(pattern.patternFault('(abcdefghij){900}')).toBe('too_complex')
  expect(pattern.patternFault('(a')).toBe('bad_syntax')
  expect(pattern.patternFault('^[a-z]{1,20}[.]mesh[.]$')).toBeUndefined()
})

test('a pattern that would hang RegExp answers at once', () => {
  expect(pattern.tryParsePattern('(a+)+$')?.test(`${'a'.repeat(5000)}!`)).toBe(false)
  expect(pattern.tryParsePattern('foo.bar')?.test('x.foo.bar.')).toBe(true)
  expect(pattern.tryParsePattern('(?=x)')).toBeUndefined()
  expect(pattern.tryParsePattern('['.repeat(3))).toBeUndefined()
})

test('an address and a range that are asked for again and again are parsed once', () => {
  const [range, address] = [parseCidr('198.51.100.0/24'), parseIp('198.51.100.7')]
  expect(cidrContains(range, address)).toBe(true)
  const parsing = [vi.spyOn(ipaddr, 'parseCIDR'), vi.spyOn(ipaddr, 'parse'), vi.spyOn(ipaddr.IPv6, 'isValid')]
  for (let round = 0; round < 100; round++) {
    expect(cidrContains(range, address)).toBe(true)
    expect(tryParseIp('198.51.100.7')).toBe(address)
    expect(tryParseIp('2001:db8::0:1')).toBe('2001:db8::1')
    expect(tryParseIp('2001:db8::x')).toBeUndefined()
  }
  expect(parsing.map((spy) => spy.mock.calls.length)).toEqual([0, 0, 2])
  // of more than are kept the oldest are parsed again, to the same
  for (let at = 0; at < 5_000; at++) expect(tryParseIp(`10.9.${at >> 8}.${at & 255}`)).toBeDefined()
  expect(tryParseIp('2001:db8::x')).toBeUndefined()
  expect(parsing[2]?.mock.calls).toHaveLength(3)
  vi.restoreAllMocks()
})
