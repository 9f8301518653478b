import { expect, test } from 'vitest'
import { createBrowserMembers, webSocketAddresses } from './browser-members.ts'

const ID = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const OWN = [
  `/ip4/192.0.2.7/tcp/4001/p2p/${ID}`,
  `/ip4/192.0.2.7/tcp/4002/ws/p2p/${ID}`,
  `/ip4/192.0.2.9/tcp/4001/ws/p2p/12D3KooWrelay/p2p-circuit/p2p/${ID}`,
  `/dns4/mesh.example.org/tcp/443/wss/p2p/${ID}`,
]

test.each([
  ['192.0.2.7', '/ip4/192.0.2.7/tcp/4002/ws', 'ws://192.0.2.7:4002'],
  ['laptop', '/dns/laptop/tcp/4002/ws', 'ws://laptop:4002'],
  ['fd00::1', '/ip6/fd00::1/tcp/4002/ws', 'ws://[fd00::1]:4002'],
  // no listener on loopback
  ['localhost', '/ip4/192.0.2.7/tcp/4002/ws', 'ws://192.0.2.7:4002'],
])('a page at %s is told where the node listens for it, and the certified name', (host, address, origin) => {
  const addresses = webSocketAddresses(OWN, host)
  expect(addresses).toHaveLength(2)
  expect(addresses[0]).toEqual({ address: `${address}/p2p/${ID}`, origin })
  expect(addresses.at(-1)).toEqual({
    address: `/dns4/mesh.example.org/tcp/443/wss/p2p/${ID}`,
    origin: 'wss://mesh.example.org:443',
  })
})

test('many addresses are cut, and none are told before the host listens', () => {
  const many = Array.from({ length: 40 }, (_, at) => `/ip4/192.0.2.${at}/tcp/4002/ws/p2p/${ID}`)
  expect(webSocketAddresses(many, 'localhost')).toHaveLength(8)
  expect(webSocketAddresses(many, 'laptop')).toHaveLength(1)
  expect(webSocketAddresses([], 'laptop')).toEqual([])
})

test('there is no page unless it is asked for', () => {
  const addresses = () => OWN
  expect(createBrowserMembers({ settings: { browserMembers: false }, addresses })).toBeUndefined()
  expect(createBrowserMembers({ settings: { browserMembers: true }, addresses })?.nodes('a')).toHaveLength(2)
})
