/** The part of a transport of libp2p that TCP and WebSockets share. */
import {
  type ComponentLogger,
  type Listener,
  type MultiaddrConnection,
  serviceCapabilities,
  type Transport,
  transportSymbol,
  type Upgrader,
} from '@libp2p/interface'
import { toError } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'

/** The parts of a libp2p host that a transport needs. */
export interface TransportComponents {
  readonly logger: ComponentLogger
}

interface SocketTransportInit {
  readonly name: string
  readonly connect: (address: Multiaddr, signal: AbortSignal) => Promise<MultiaddrConnection>
  readonly createListener: (upgrader: Upgrader) => Listener
  readonly canListen: (address: Multiaddr) => boolean
  readonly canDial: (address: Multiaddr) => boolean
}

export function createSocketTransport(
  init: SocketTransportInit,
): Transport & { readonly [serviceCapabilities]: readonly string[] } {
  return {
    [transportSymbol]: true,
    [Symbol.toStringTag]: `@mesh/${init.name}`,
    [serviceCapabilities]: ['@libp2p/transport'],
    async dial(address, { upgrader, ...options }) {
      options.signal.throwIfAborted()
      const connection = await init.connect(address, options.signal)
      try {
        return await upgrader.upgradeOutbound(connection, options)
      } catch (error) {
        connection.abort(toError(error))
        throw error
      }
    },
    createListener: ({ upgrader }) => init.createListener(upgrader),
    listenFilter: (addresses) => addresses.filter(init.canListen),
    dialFilter: (addresses) => addresses.filter(init.canDial),
  }
}
