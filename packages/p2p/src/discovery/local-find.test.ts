import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { localFind } from './local-find.ts'

const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const interfaces = {
  lo: [
    { address: '127.0.0.1', cidr: '127.0.0.1/8' },
    { address: '::1', cidr: '::1/128' },
  ],
  eth0: [
    { address: '192.168.1.5', cidr: '192.168.1.5/24' },
    { address: 'fe80::5', cidr: 'fe80::5/64' },
    { address: '2001:db8:1::5', cidr: '2001:db8:1::5/64' },
  ],
}
const left = (from: string, ...addresses: readonly string[]) =>
  localFind(
    { peer: PEER, addresses: addresses.map((each) => multiaddr(each)) },
    from,
    interfaces,
  )?.addresses.map(String)

test('a peer that answers on the link is found there', () => {
  const addresses = ['/ip4/192.168.1.9/tcp/4001', '/ip6/2001:db8:1::9/udp/4001/quic-v1']
  expect(left('192.168.1.9', ...addresses)).toEqual(addresses)
  expect(left('fe80::9', ...addresses)).toEqual(addresses)
})

test.each([
  ['/ip4/8.8.8.8/tcp/53', 'somebody in the Internet'],
  ['/ip4/169.254.169.254/tcp/80', 'what a cloud tells its machines'],
  ['/ip4/10.0.0.1/tcp/22', 'a network behind a router'],
  ['/ip4/127.0.0.1/tcp/8080', 'this machine'],
  ['/ip4/192.168.1.5/tcp/8080', 'this machine'],
  ['/ip6/::1/tcp/8080', 'this machine'],
  ['/ip6/::ffff:127.0.0.1/tcp/8080', 'this machine'],
  ['/dns4/example.org/tcp/443', 'a name'],
  ['/dnsaddr/example.org', 'a name'],
])('what it tells of %s is left out: %s', (address) => {
  expect(left('192.168.1.9', address)).toBe(undefined)
  expect(left('192.168.1.9', address, '/ip4/192.168.1.9/tcp/1')).toEqual(['/ip4/192.168.1.9/tcp/1'])
})

test('another node of this machine is found on loopback', () => {
  const address = '/ip4/127.0.0.1/tcp/4001'
  expect(left('192.168.1.5', address)).toEqual([address])
  expect(left('127.0.0.1', address)).toEqual([address])
})

test('who answers from beyond the link is not heard', () => {
  expect(left('203.0.113.9', '/ip4/192.168.1.9/tcp/4001')).toBe(undefined)
  expect(left('', '/ip4/192.168.1.9/tcp/4001')).toBe(undefined)
})
