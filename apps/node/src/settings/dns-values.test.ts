import { expect, test } from 'vitest'
import { parseDnsPlace, parseForwardPlace, parseZone } from './dns-values.ts'

test.each([
  ['127.0.0.1:5353', '127.0.0.1', 5353],
  ['127.0.0.1', '127.0.0.1', 53],
  [':53', undefined, 53],
  [':0', undefined, 0],
  ['[::1]:53', '::1', 53],
  ['[fd00::5]', 'fd00::5', 53],
  ['fd00::5', 'fd00::5', 53],
])('%s is a place to listen', (text, host, port) => {
  expect(parseDnsPlace(text)).toEqual({ value: { host, port } })
})

test.each(['', 'localhost:53', '127.0.0.1:65536', '127.0.0.1:', '[::1', '127.0.0.1:5:3', '53'])(
  '%j is none',
  (text) => {
    expect(parseDnsPlace(text)).toHaveProperty('expected')
  },
)

test.each([
  ['8.8.8.8', '8.8.8.8', 53, '.'],
  ['8.8.8.8:5353', '8.8.8.8', 5353, '.'],
  ['2620:fe::fe', '2620:fe::fe', 53, '.'],
  ['[2620:fe::fe]:5353', '2620:fe::fe', 5353, '.'],
  ['Example.com=10.0.0.1', '10.0.0.1', 53, 'example.com.'],
  ['example.com.=[::1]:54', '::1', 54, 'example.com.'],
])('%s is a server', (text, address, port, domain) => {
  expect(parseForwardPlace(text)).toEqual({ value: { address, port, domain } })
})

test.each([
  ['fe80::53%eth0', 'fe80::53', 53],
  ['[FE80::53%wlp2s0.100]:5353', 'fe80::53', 5353],
])('%s is a server that one interface knows', (text, address, port) => {
  const [, scope] = /%([^\]]+)/.exec(text) ?? []
  expect(parseForwardPlace(text)).toEqual({ value: { address, scope, port, domain: '.' } })
})

test.each(['2620:fe::fe%eth0', 'fe80::53%', 'fe80::53%eth0/x', '127.0.0.1%lo'])('%j has no scope', (text) => {
  expect(parseForwardPlace(text)).toHaveProperty('expected')
})

test.each(['', ':53', '8.8.8.8:0', 'dns.google', '=8.8.8.8', 'a..b=8.8.8.8', 'example.com='])(
  '%j is none',
  (text) => {
    expect(parseForwardPlace(text)).toHaveProperty('expected')
  },
)

test('a zone is a name', () => {
  expect(parseZone('Home.Arpa')).toEqual({ value: 'home.arpa.' })
  for (const text of ['', '.', 'a..b', '-', 'ä', 'a b']) expect(parseZone(text)).toHaveProperty('expected')
})
