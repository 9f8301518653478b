/** A peer of libp2p alone, without anything of mesh. */
import { generateKeyPair } from '@libp2p/crypto/keys'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { onTestFinished } from 'vitest'
import type { P2pMember } from '../src/node.ts'

/** Connects a fresh peer to a node over TCP; it stops with the test. */
export async function connectRawPeer(node: P2pMember) {
  const peer = await createLibp2p({
    privateKey: await generateKeyPair('Ed25519'),
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
  })
  onTestFinished(() => peer.stop())
  const addresses = node
    .addresses()
    .filter((text) => text.includes('/tcp/'))
    .map((text) => multiaddr(text))
  return { peer, connection: await peer.dial(addresses) }
}
