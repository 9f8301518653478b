/** Whole nodes for tests: found over loopback alone, by the addresses that they are given. */
import { type Clock, silentLogger, systemClock, systemRandom } from '@mesh/core'
import type { NetworkConfig } from '@mesh/network'
import { createP2pNode, type P2pMember, type P2pNodeInit } from '../src/node.ts'

export type LoopbackInit = Partial<P2pNodeInit> & { readonly network: NetworkConfig }

/** A node with TCP and nothing else, unless `init` says otherwise. Whoever starts it stops it. */
export function startLoopbackNode(init: LoopbackInit, clock: Clock = systemClock): Promise<P2pMember> {
  return createP2pNode(
    {
      identity: systemRandom.bytes(32),
      listen: ['/ip4/127.0.0.1/tcp/0'],
      private: true,
      ...init,
      switches: { mdns: false, dht: false, ws: false, webrtcDirect: false, webrtc: false, ...init.switches },
    },
    { clock, random: systemRandom, logger: silentLogger },
  )
}
