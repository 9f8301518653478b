import { expect, test } from 'vitest'
import { isOnLink } from './on-link.ts'

const INTERFACES = {
  lo: [{ cidr: '127.0.0.1/8' }, { cidr: '::1/128' }],
  eth0: [{ cidr: '192.168.1.5/24' }, { cidr: '2001:db8:1::5/64' }, { cidr: null }],
  tun0: [{ cidr: '10.64.0.2/32' }],
  gone: undefined,
}

test.each([
  ['192.168.1.77', true],
  ['192.168.2.77', false],
  ['2001:db8:1::77', true],
  ['2001:db8:2::77', false],
  ['127.0.0.9', true],
  ['10.64.0.3', false],
  ['no address', false],
])('%s: %s', (address, expected) => {
  expect(isOnLink(address, INTERFACES)).toBe(expected)
})
