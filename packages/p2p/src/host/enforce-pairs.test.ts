import type { Connection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { enforcePairs } from './enforce-pairs.ts'

test('a change of rules ends relayed connections between members that may not talk, and no others', () => {
  const [self, relay, near, far] = [
    '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
    '12D3KooWSTMriKNBgPK4BSjXU9q92hDagQufhCSFXSM3iDC2bmCp',
    '12D3KooWCd3eX8r5ihRvzK7P1yPq5aakaBJhG5GNj18YTztPhoCa',
    '12D3KooWQYhTNQdmr3ArTeUHRYzFg94BKyTkoWBDWez9kSCVe2Xo',
  ] as const
  const ended: string[] = []
  const connectionTo = (peer: string, address: string) =>
    ({
      remotePeer: peer,
      remoteAddr: multiaddr(address),
      abort: () => ended.push(address),
    }) as unknown as Connection
  const direct = `/ip4/192.0.2.1/tcp/1/p2p/${far}`
  const over = (peer: string) => `/ip4/192.0.2.1/tcp/1/p2p/${relay}/p2p-circuit/p2p/${peer}`
  const connections = [
    connectionTo(far, direct),
    connectionTo(far, over(far)),
    connectionTo(near, over(near)),
  ]
  let change = () => {}
  const pairs = {
    mayTalk: (one: string, other: string) => one === self && other === near,
    onChange(listener: () => void) {
      change = listener
      return () => (change = () => {})
    },
  }
  const host = { getConnections: () => connections, peerId: self }
  const stop = enforcePairs(pairs, host as never)
  change()
  expect(ended).toEqual([over(far)])
  stop()
  change()
  expect(ended).toHaveLength(1)
})
