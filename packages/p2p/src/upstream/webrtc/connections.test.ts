import type { MultiaddrConnection } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { isPhantomWebRtc } from './connections.ts'

const RELAY = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const WEBRTC = `/ip4/192.0.2.1/tcp/4001/p2p/${RELAY}/p2p-circuit/webrtc`

test.each([
  [WEBRTC, { connectionState: 'connecting' }, true],
  [WEBRTC, { connectionState: 'closed' }, true],
  [WEBRTC, { connectionState: 'connected' }, false],
  ['/ip4/192.0.2.1/tcp/4001', undefined, false],
])('%s in state %o: a phantom is %s', (address, peerConnection, expected) => {
  const raw = { remoteAddr: multiaddr(address), ...(peerConnection === undefined ? {} : { peerConnection }) }
  expect(isPhantomWebRtc(raw as unknown as MultiaddrConnection)).toBe(expected)
})
