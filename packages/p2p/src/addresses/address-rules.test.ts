import { parseCidr } from '@mesh/core'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { createAddressRules, isRelayed, transportOf } from './address-rules.ts'
import { chooseAnnounced } from './announced-addresses.ts'

const RELAY = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const rules = createAddressRules([parseCidr('10.1.0.0/24'), parseCidr('fd12::/16')])

test.each([
  '/ip4/10.1.0.7/tcp/4001',
  '/ip6/::ffff:10.1.0.7/tcp/4001',
  '/ip6/::ffff:a01:7/tcp/4001',
  '/ip6/fd12::1/udp/4001/quic-v1',
  `/ip4/10.1.0.7/tcp/4001/p2p/${RELAY}/p2p-circuit`,
])('%s lies in the VPN', (text) => {
  expect(rules.isBlocked(multiaddr(text))).toBe(true)
})

test.each(['/ip4/10.1.1.7/tcp/4001', '/ip6/::1/tcp/4001', '/dns4/localhost/tcp/1', '/memory/x'])(
  '%s does not',
  (text) => {
    expect(rules.isBlocked(multiaddr(text))).toBe(false)
  },
)

test('a relay is announced once for each kind, by its best address', () => {
  const over = (relay: string) => [
    multiaddr(`${relay}/p2p/${RELAY}/p2p-circuit`),
    multiaddr(`${relay}/p2p/${RELAY}/p2p-circuit/webrtc`),
  ]
  const announced = chooseAnnounced(
    [
      multiaddr('/ip4/192.0.2.1/tcp/1'),
      multiaddr('/ip4/10.1.0.1/tcp/1'),
      ...over('/ip4/127.0.0.1/tcp/2'),
      ...over('/ip4/198.51.100.1/tcp/3/ws'),
      ...over('/ip4/198.51.100.1/tcp/2'),
    ],
    rules,
  )
  expect(announced.map(String)).toEqual([
    '/ip4/192.0.2.1/tcp/1',
    `/ip4/198.51.100.1/tcp/2/p2p/${RELAY}/p2p-circuit`,
    `/ip4/198.51.100.1/tcp/2/p2p/${RELAY}/p2p-circuit/webrtc`,
  ])
})

test('names what carries the bytes', () => {
  const relayed = multiaddr(`/ip4/192.0.2.1/tcp/1/ws/p2p/${RELAY}/p2p-circuit/p2p/${RELAY}`)
  expect(isRelayed(relayed)).toBe(true)
  expect(transportOf(relayed)).toBe('ws')
  const webrtc = multiaddr(`/ip4/192.0.2.1/tcp/1/p2p/${RELAY}/p2p-circuit/webrtc/p2p/${RELAY}`)
  expect(isRelayed(webrtc)).toBe(false)
  expect(transportOf(webrtc)).toBe('webrtc')
  expect(transportOf(multiaddr('/ip4/192.0.2.1/udp/1/quic-v1'))).toBe('quic-v1')
})
