import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { MAX_PEER_ID_BYTES } from '../limits.ts'
import { boundPeerIds } from './peer-id-lengths.ts'

/** `/p2p` with an id of so many bytes, as it stands in messages. */
const withId = (bytes: number) => Uint8Array.from([0xa5, 0x03, bytes, ...new Uint8Array(bytes).fill(7)])

test('addresses whose peer id is too long are refused, and others are read as before', () => {
  boundPeerIds()
  boundPeerIds()
  const text = '/ip4/192.0.2.1/tcp/4001/p2p/12D3KooWRm8J3iL796zPFi2EtGGtUJn58AG67gcRzQ4FENEemvpg'
  expect(multiaddr(multiaddr(text).bytes).toString()).toBe(text)
  expect(multiaddr(withId(MAX_PEER_ID_BYTES)).getComponents()).toHaveLength(1)
  expect(() => multiaddr(withId(MAX_PEER_ID_BYTES + 1))).toThrow('too long a peer id')
  expect(() => multiaddr(`/p2p/1${'2'.repeat(2 * MAX_PEER_ID_BYTES)}`).bytes).toThrow('too long a peer id')
})
