// @vitest-environment node
import { expect, test } from 'vitest'
import { peer } from '../../test/support/fake-node.ts'
import { siteOf } from './site.ts'

const site = (...Addresses: string[]) =>
  siteOf({ peer: peer('x', 'x', { Addresses }), addresses: ['10.1.0.5'] })

test('a public address tells the site before a private one', () => {
  expect(site('/ip4/192.168.1.4/tcp/4001', '/ip4/203.0.113.7/udp/4001/quic-v1')).toBe('203.0.113.0/24')
  expect(site('/ip4/192.168.1.4/tcp/4001')).toBe('192.168.1.0/24')
  expect(site('/ip6/2001:db8:1:2:3::4/tcp/4001')).toBe('2001:db8:1:2::/64')
})

test('loopback, addresses of the VPN, relays and names tell no site', () => {
  expect(
    site('/ip4/127.0.0.1/tcp/1', '/ip4/10.1.0.5/tcp/1', '/dns4/x.example/tcp/1', 'nonsense'),
  ).toBeUndefined()
  expect(site('/ip4/203.0.113.7/tcp/4001/p2p/r/p2p-circuit')).toBeUndefined()
  expect(siteOf({ peer: undefined, addresses: [] })).toBeUndefined()
})

test('the address that packets go to counts first', () => {
  const UDP = { State: 'direct', Reason: null, RoundTripMs: 4 } as const
  const over = (Endpoint: string) =>
    siteOf({ peer: peer('x', 'x', { UDP: { ...UDP, Endpoint } }), addresses: [] })
  expect(over('198.51.100.7:51820')).toBe('198.51.100.0/24')
  expect(over('[2001:db8::7]:51820')).toBe('2001:db8::/64')
})
