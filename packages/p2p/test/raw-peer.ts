/** A peer of libp2p alone, without anything of mesh. */
import { generateKeyPair } from '@libp2p/crypto/keys'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import type { Libp2p, ServiceMap } from '@libp2p/interface'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import { onTestFinished } from 'vitest'
import type { P2pMember } from '../src/node.ts'

/** Starts a host that listens on loopback, unless told otherwise; it stops with the test. */
export async function startRawHost<T extends ServiceMap = Record<string, never>>(
  init: Libp2pOptions<T> = {},
): Promise<Libp2p<T>> {
  const host = await createLibp2p<T>({
    privateKey: await generateKeyPair('Ed25519'),
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    ...init,
  })
  onTestFinished(() => host.stop())
  return host
}

/** Connects a fresh peer to a node over TCP; it stops with the test. */
export async function connectRawPeer(node: P2pMember) {
  const peer = await startRawHost({ addresses: { listen: [] } })
  const addresses = node
    .addresses()
    .filter((text) => text.includes('/tcp/'))
    .map((text) => multiaddr(text))
  return { peer, connection: await peer.dial(addresses) }
}
