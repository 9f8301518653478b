/** A transport of libp2p over TCP. After @libp2p/tcp 11.0.28, Apache-2.0 OR MIT, Copyright Protocol Labs and contributors. */
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import {
  type ComponentLogger,
  type Connection,
  type CreateListenerOptions,
  type DialTransportOptions,
  type Listener,
  type Logger,
  serviceCapabilities,
  type Transport,
  transportSymbol,
} from '@libp2p/interface'
import { getNetConfig } from '@libp2p/utils'
import { toError } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { TCP } from '@multiformats/multiaddr-matcher'
import { remoteAddressOf } from './socket-address.ts'
import { type Door, SocketListener } from './socket-listener.ts'
import type { Sockets } from './sockets.ts'
import { TcpConnection } from './tcp-connection.ts'

interface TcpInit {
  readonly sockets: Sockets
  /** Lets another protocol use the ports of the listeners. */
  readonly door?: Door
}

/** The parts of a libp2p host that a transport needs. */
export interface TransportComponents {
  readonly logger: ComponentLogger
}

export function tcp(init: TcpInit): (components: TransportComponents) => Transport {
  return (components) => new Tcp(init, components)
}

class Tcp implements Transport {
  readonly [transportSymbol] = true
  readonly [Symbol.toStringTag] = '@mesh/tcp'
  readonly [serviceCapabilities]: string[] = ['@libp2p/transport']
  readonly #init: TcpInit
  readonly #log: Logger

  constructor(init: TcpInit, { logger }: TransportComponents) {
    this.#init = init
    this.#log = logger.forComponent('tcp')
  }

  async dial(address: Multiaddr, { upgrader, ...options }: DialTransportOptions): Promise<Connection> {
    const socket = await this.#connect(address, options.signal)
    const connection = this.#connection(socket, 'outbound', address)
    try {
      return await upgrader.upgradeOutbound(connection, options)
    } catch (error) {
      connection.abort(toError(error))
      throw error
    }
  }

  createListener({ upgrader }: CreateListenerOptions): Listener {
    return new SocketListener({
      ...this.#init,
      upgrader,
      connect: (socket) => this.#connection(socket, 'inbound', remoteAddressOf(socket)),
    })
  }

  listenFilter(addresses: Multiaddr[]): Multiaddr[] {
    return addresses.filter((address) => TCP.exactMatch(address))
  }

  dialFilter(addresses: Multiaddr[]): Multiaddr[] {
    return this.listenFilter(addresses)
  }

  async #connect(address: Multiaddr, signal: AbortSignal): Promise<Socket> {
    signal.throwIfAborted()
    const { host, port = 0 } = getNetConfig(address)
    const socket = this.#init.sockets.connecting(connect({ host, port, noDelay: true, keepAlive: true }))
    try {
      await once(socket, 'connect', { signal })
      return socket
    } catch (error) {
      socket.destroy()
      throw error
    }
  }

  #connection(socket: Socket, direction: 'inbound' | 'outbound', remoteAddr: Multiaddr | undefined) {
    if (remoteAddr === undefined) throw new Error('the other side has gone')
    const { budget } = this.#init.sockets
    return new TcpConnection({ socket, budget, direction, remoteAddr, log: this.#log })
  }
}
