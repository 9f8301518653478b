/** The parts of a host that a browser tab has: WebSockets to the nodes that it was given, and circuits over them. */
import type { Clock } from '@mesh/core'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { joinCircuits } from '../nat/circuits.ts'
import { browserWebSockets } from '../transport/browser-websockets.ts'
import type { Platform } from './platform.ts'

interface BrowserPlatformInit {
  /** The addresses of the nodes that the tab joins by, each with `/p2p/ID`; no others are dialled. */
  readonly nodes: readonly string[]
}

export function createBrowserPlatform({ nodes }: BrowserPlatformInit, clock: Clock): Platform {
  const known = new Set(nodes.map((text) => String(multiaddr(text))))
  const mayDial = (address: Multiaddr) => known.has(String(address))
  return {
    transports: [browserWebSockets({ mayDial, clock })],
    listen: [],
    isLeaf: true,
    async join({ host }) {
      await joinCircuits(host, clock)
      return async () => {}
    },
  }
}
