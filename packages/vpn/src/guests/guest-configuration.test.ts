import type { Cidr, IpAddress } from '@mesh/core'
import { expect, test } from 'vitest'
import type { Candidate } from '../wire/control-message.ts'
import { bestEndpoint, guestConfiguration, guestDns, withPort } from './guest-configuration.ts'
import { encodeGuestFile, parseGuestFile, readGuestFile } from './guest-file.ts'

const KEY = Buffer.alloc(32, 7).toString('base64')

function candidate(address: string, kind: Candidate['kind']): Candidate {
  return { endpoint: { address: address as IpAddress, port: 4711 }, kind }
}

test('a guest is told where others see the node before its own addresses, and the Internet before private networks', () => {
  const all = [
    candidate('192.168.1.2', 'own'),
    candidate('2a00::1', 'own'),
    candidate('192.168.1.9', 'seen'),
    candidate('5.5.5.5', 'own'),
    candidate('5.5.5.6', 'seen'),
  ]
  const order = []
  for (const left = [...all]; left.length > 0; ) {
    const best = bestEndpoint(left)
    order.push(best?.endpoint.address)
    left.splice(
      left.findIndex((each) => each === best),
      1,
    )
  }
  expect(order).toEqual(['5.5.5.6', '5.5.5.5', '2a00::1', '192.168.1.9', '192.168.1.2'])
  expect(bestEndpoint([])).toBeUndefined()
})

test.each([
  ['vpn.example.org', 'vpn.example.org:9'],
  ['vpn.example.org:51820', 'vpn.example.org:51820'],
  ['5.5.5.5', '5.5.5.5:9'],
  ['2001:db8::7', '[2001:db8::7]:9'],
  ['[2001:db8::7]', '[2001:db8::7]:9'],
  ['[2001:db8::7]:51820', '[2001:db8::7]:51820'],
])('%s becomes %s with the port of the node', (given, expected) => {
  expect(withPort(given, 9)).toBe(expected)
})

test('a configuration is one that wg-quick reads', () => {
  const text = guestConfiguration({
    name: 'phone',
    privateKey: KEY,
    presharedKey: KEY,
    addresses: ['10.1.0.9', 'fd00:1::9'] as IpAddress[],
    dns: '10.1.0.1' as IpAddress,
    mtu: 1280,
    node: { name: 'edge', publicKey: KEY, endpoint: '5.5.5.5:9' },
    reaches: ['10.1.0.0/24', '192.168.7.0/24'] as Cidr[],
  })
  expect(text).toBe(`# phone, a guest of edge
[Interface]
PrivateKey = ${KEY}
Address = 10.1.0.9/32, fd00:1::9/128
DNS = 10.1.0.1
MTU = 1280

[Peer]
PublicKey = ${KEY}
PresharedKey = ${KEY}
AllowedIPs = 10.1.0.0/24, 192.168.7.0/24
Endpoint = 5.5.5.5:9
PersistentKeepalive = 25
`)
})

test('guests ask for names where this node answers on the port of DNS', () => {
  const own = ['10.1.0.1', 'fd00:1::1'] as IpAddress[]
  const at = (host?: string, port = 53) => guestDns([{ host: host as IpAddress | undefined, port }], own)
  expect(at(undefined)).toBe('10.1.0.1')
  expect(['10.1.0.1', 'fd00:1::1', '0.0.0.0', '::', '127.0.0.1'].map((host) => at(host))).toEqual([
    '10.1.0.1',
    'fd00:1::1',
    '10.1.0.1',
    '10.1.0.1',
    undefined,
  ])
  expect(at('10.1.0.1', 5353)).toBeUndefined()
})

test('what is kept is read again, and what is no such file is not written over', () => {
  const guest = {
    name: 'phone',
    address: '10.1.0.9' as IpAddress,
    publicKey: KEY,
    presharedKey: KEY,
    addedAt: 5,
  }
  const found = { address: '192.0.2.7' as IpAddress, port: 4000, isOwn: false }
  const place = { endpoint: '192.0.2.7:4000', found }
  const both = {
    ...guest,
    ...place,
    name: 'router',
    address6: 'fd00:1::9' as IpAddress,
    fullTunnel: true as const,
  }
  const file = { privateKey: KEY, port: 4711, guests: [guest, both] }
  expect(parseGuestFile(encodeGuestFile(file))).toEqual(file)
  for (const text of [
    '',
    '{}',
    '{"privateKey":"AA==","port":1,"guests":[]}',
    encodeGuestFile(file).replace('10.1', 'x'),
  ])
    expect(() => parseGuestFile(text)).toThrow('cannot be read')
})

test('a file that the system does not let be read is told with its reason and what to do, and none there is none', () => {
  const cause = new Error('EACCES: permission denied')
  const read = (): never => {
    throw cause
  }
  expect(() => readGuestFile({ read, write: () => {} })).toThrow(
    expect.objectContaining({ code: 'vpn.bad_guest_file', cause }) as Error,
  )
  expect(readGuestFile({ read: () => undefined, write: () => {} })).toBeUndefined()
})
