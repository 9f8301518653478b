import type { Connection, MultiaddrConnection } from '@libp2p/interface'
import { peerIdFromString } from '@libp2p/peer-id'
import { parseCidr } from '@mesh/core'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { createAddressRules } from '../addresses/address-rules.ts'
import { MAX_RELAY_CIRCUITS_PER_ADDRESS, MAX_RELAY_CIRCUITS_PER_PEER } from './limits.ts'
import { RELAY_HOP, RELAY_STOP } from '../protocols.ts'
import { createConnectionGate } from './connection-gate.ts'

const MEMBER = peerIdFromString('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const OTHER = peerIdFromString('12D3KooWSTMriKNBgPK4BSjXU9q92hDagQufhCSFXSM3iDC2bmCp')
const STRANGER = peerIdFromString('12D3KooWCd3eX8r5ihRvzK7P1yPq5aakaBJhG5GNj18YTztPhoCa')

function build(
  streams: readonly { protocol: string; direction: string }[] = [],
  others: readonly Connection[] = [],
  mayTalk = (_one: string, _other: string) => true,
) {
  const own = { streams, remoteAddr: multiaddr('/ip4/192.0.2.66/tcp/1') } as unknown as Connection
  const refused: string[] = []
  const gate = createConnectionGate({
    rules: createAddressRules([parseCidr('10.1.0.0/24')]),
    isBlockedPeer: () => false,
    mayTalk,
    view: {
      self: OTHER.toString(),
      isMember: (peer) => peer !== STRANGER.toString(),
      connections: (peer) => (peer === MEMBER.toString() ? [own] : []),
      allConnections: () => [own, ...others],
    },
    refusals: { refuse: (code) => refused.push(code) },
  })
  return { gate, refused }
}
const raw = (address: string, more = {}) =>
  ({ remoteAddr: multiaddr(address), ...more }) as unknown as MultiaddrConnection

test('relays for members only, in both directions', async () => {
  const { gate, refused } = build()
  expect(await gate.denyInboundRelayReservation?.(STRANGER)).toBe(true)
  expect(await gate.denyInboundRelayReservation?.(MEMBER)).toBe(false)
  expect(await gate.denyOutboundRelayedConnection?.(STRANGER, MEMBER)).toBe(true)
  expect(await gate.denyOutboundRelayedConnection?.(MEMBER, STRANGER)).toBe(true)
  expect(await gate.denyOutboundRelayedConnection?.(MEMBER, OTHER)).toBe(false)
  expect(await gate.denyInboundRelayedConnection?.(STRANGER, MEMBER)).toBe(true)
  expect(refused).toEqual(Array.from({ length: 4 }, () => 'relay.not_member'))
})

test('relays for no pair that access rules keep apart, and takes no circuit from such a member', async () => {
  const pairs: string[][] = []
  const { gate, refused } = build([], [], (...pair) => {
    pairs.push(pair)
    return false
  })
  const relay = MEMBER
  expect(await gate.denyOutboundRelayedConnection?.(MEMBER, OTHER)).toBe(true)
  expect(await gate.denyInboundRelayedConnection?.(relay, MEMBER)).toBe(true)
  expect(refused).toEqual(['relay.refused_by_rules', 'relay.refused_by_rules'])
  expect(pairs).toEqual([
    [MEMBER.toString(), OTHER.toString()],
    [MEMBER.toString(), OTHER.toString()],
  ])
  expect(await gate.denyInboundRelayReservation?.(MEMBER)).toBe(false)
})

test('a peer holds 64 circuits, whether it asked for them or was asked', async () => {
  const full = Array.from({ length: MAX_RELAY_CIRCUITS_PER_PEER }, (_, at) =>
    at % 2 === 0
      ? { protocol: RELAY_HOP, direction: 'inbound' }
      : { protocol: RELAY_STOP, direction: 'outbound' },
  )
  expect(await build(full).gate.denyOutboundRelayedConnection?.(OTHER, MEMBER)).toBe(true)
  expect(await build(full.slice(1)).gate.denyOutboundRelayedConnection?.(OTHER, MEMBER)).toBe(false)
  // the request itself is among the asker's streams
  expect(await build(full).gate.denyOutboundRelayedConnection?.(MEMBER, OTHER)).toBe(false)
  const asking = [...full, { protocol: RELAY_HOP, direction: 'inbound' }]
  expect(await build(asking).gate.denyOutboundRelayedConnection?.(MEMBER, OTHER)).toBe(true)
})

test('the peers of one address hold 256 circuits together, however many keys they have', async () => {
  const circuit = { protocol: RELAY_HOP, direction: 'inbound' }
  const peerAt = (address: string, circuits: number) =>
    ({
      streams: Array.from({ length: circuits }, () => circuit),
      remoteAddr: multiaddr(`/ip4/${address}/tcp/1`),
    }) as unknown as Connection
  const sybils = Array.from({ length: MAX_RELAY_CIRCUITS_PER_ADDRESS / 32 }, () => peerAt('192.0.2.66', 32))
  const ask = (others: readonly Connection[]) =>
    build([circuit], others).gate.denyOutboundRelayedConnection?.(MEMBER, OTHER)
  expect(await ask(sybils)).toBe(true)
  expect(await ask(sybils.slice(1))).toBe(false)
  expect(await ask(sybils.map(() => peerAt('192.0.2.1', 32)))).toBe(false)
})

test('the VPN is neither dialled nor accepted nor remembered', async () => {
  const { gate, refused } = build()
  const inside = multiaddr('/ip4/10.1.0.9/tcp/1')
  expect(await gate.denyDialMultiaddr?.(inside)).toBe(true)
  expect(await gate.denyInboundConnection?.(raw('/ip4/10.1.0.9/tcp/1'))).toBe(true)
  expect(await gate.filterMultiaddrForPeer?.(MEMBER, inside)).toBe(false)
  expect(refused).toEqual(['host.blocked_range'])
})

test('a WebRTC connection that never came about is none', async () => {
  const { gate } = build()
  const over = (connectionState: string) =>
    raw(`/webrtc/p2p/${MEMBER}`, { peerConnection: { connectionState } })
  expect(await gate.denyInboundEncryptedConnection?.(MEMBER, over('connecting'))).toBe(true)
  expect(await gate.denyInboundEncryptedConnection?.(MEMBER, over('connected'))).toBe(false)
  expect(await gate.denyInboundEncryptedConnection?.(MEMBER, raw('/ip4/192.0.2.1/tcp/1'))).toBe(false)
})
