/** Accepts sockets: 1 a place, 2 the door may take it, 3 time, 4 it becomes a connection, 5 libp2p upgrades it. */
import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import type { Listener, ListenerEvents, MultiaddrConnection, Upgrader } from '@libp2p/interface'
import { getNetConfig, getThinWaistAddresses } from '@libp2p/utils'
import { toError } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { TypedEventEmitter } from 'main-event'
import type { Sockets } from './sockets.ts'

/** Sees an accepted socket before libp2p. Resolves true when it has taken the socket for another protocol. */
export type Door = (socket: Socket) => Promise<boolean>

interface SocketListenerInit {
  readonly sockets: Sockets
  readonly upgrader: Upgrader
  readonly door?: Door | undefined
  /** Follows the port in the addresses of this listener, as `/ws`. */
  readonly suffix?: string
  /** Makes a socket a connection. */
  readonly connect: (socket: Socket) => MultiaddrConnection | Promise<MultiaddrConnection>
}

export class SocketListener extends TypedEventEmitter<ListenerEvents> implements Listener {
  readonly #init: SocketListenerInit
  readonly #server = createServer({ noDelay: true, keepAlive: true }, (socket) => void this.#accept(socket))
  readonly #open = new Set<Socket>()
  readonly #closing = new AbortController()
  #address: Multiaddr | undefined

  constructor(init: SocketListenerInit) {
    super()
    this.#init = init
    this.#server.on('error', (detail) => this.safeDispatchEvent('error', { detail }))
  }

  async listen(address: Multiaddr): Promise<void> {
    const { host, port = 0, type } = getNetConfig(address)
    this.#server.listen({ host, port, ipv6Only: type === 'ip6' })
    await once(this.#server, 'listening')
    try {
      this.#init.sockets.listening(this.#server)
    } catch (error) {
      this.#server.close()
      throw error
    }
    this.#address = address
    this.safeDispatchEvent('listening')
  }

  getAddrs(): Multiaddr[] {
    const bound = this.#server.address()
    if (bound === null || typeof bound === 'string' || this.#address === undefined) return []
    const { suffix } = this.#init
    const addresses = getThinWaistAddresses(this.#address, bound.port)
    return suffix === undefined ? addresses : addresses.map((address) => address.encapsulate(suffix))
  }

  updateAnnounceAddrs(): void {}

  async close(): Promise<void> {
    this.#closing.abort(new Error('the listener closes'))
    const closed = this.#server.listening ? once(this.#server, 'close') : undefined
    this.#server.close()
    for (const socket of this.#open) socket.destroy()
    await closed
    this.safeDispatchEvent('close')
  }

  async #accept(socket: Socket): Promise<void> {
    const { sockets, upgrader, door, connect } = this.#init
    const place = sockets.accepted(socket)
    if (place === undefined) return
    if ((await door?.(socket)) === true) return place.release()
    this.#open.add(socket)
    socket.once('close', () => this.#open.delete(socket))
    await sockets.turn(socket)
    if (socket.destroyed || this.#closing.signal.aborted) return void socket.destroy()
    try {
      const connection = await connect(socket)
      place.release()
      await upgrade(upgrader, connection, this.#closing.signal)
    } catch (error) {
      socket.destroy(toError(error))
    }
  }
}

async function upgrade(
  upgrader: Upgrader,
  connection: MultiaddrConnection,
  signal: AbortSignal,
): Promise<void> {
  try {
    await upgrader.upgradeInbound(connection, { signal })
  } catch (error) {
    connection.abort(toError(error))
  }
}
