import { parseIp } from '@mesh/core'
import { expect, test } from 'vitest'
import { type LocalNetwork, routerIn } from './upnp-search.ts'

const local = (cidr: string, more: { readonly mac?: string; readonly internal?: boolean } = {}) => ({
  address: cidr.split('/')[0] ?? '',
  cidr,
  family: cidr.includes(':') ? 'IPv6' : 'IPv4',
  internal: false,
  mac: '52:54:00:00:00:01',
  ...more,
})
const network: LocalNetwork = {
  interfaces: {
    lo: [local('127.0.0.1/8', { internal: true, mac: '00:00:00:00:00:00' })],
    eth0: [local('192.168.1.5/24')],
    mesh0: [local('10.1.0.5/24', { mac: '00:00:00:00:00:00' })],
  },
  defaultRouter: parseIp('172.16.9.1'),
}
const answerOf = (address: string) =>
  Buffer.from(
    `HTTP/1.1 200 OK\r\nST: urn:schemas-upnp-org:device:InternetGatewayDevice:2\r\nLOCATION: http://${address}:5000/d.xml\r\n\r\n`,
  )
const found = (address: string) => routerIn(answerOf(address), address, network)

test('a router on a link of this machine is found, and the default router wherever it is', () => {
  expect(found('192.168.1.1')).toMatchObject({ isDefault: false })
  expect(found('172.16.9.1')).toMatchObject({ isDefault: true })
})

test.each([
  ['192.168.1.5', 'this machine itself'],
  ['127.0.0.1', 'this machine itself'],
  ['10.1.0.9', 'a member behind the VPN'],
  ['8.8.8.8', 'somebody in the Internet'],
  ['192.168.2.1', 'a network behind a router'],
])('%s is no router: %s', (address) => {
  expect(found(address)).toBe(undefined)
})

test('a router answers for itself alone', () => {
  expect(routerIn(answerOf('192.168.1.1'), '192.168.1.2', network)).toBe(undefined)
})
