/** A transport of libp2p over WebSockets, for browsers and for networks that let only HTTP through. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectTcp, isIP, type NetConnectOpts, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import {
  type Connection,
  type CreateListenerOptions,
  type DialTransportOptions,
  type Listener,
  type Logger,
  serviceCapabilities,
  type Transport,
  transportSymbol,
} from '@libp2p/interface'
import { toError } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { WebSockets as Ws, WebSocketsSecure as Wss } from '@multiformats/multiaddr-matcher'
import { multiaddrToUri } from '@multiformats/multiaddr-to-uri'
import { WebSocket, WebSocketServer } from 'ws'
import { MAX_WEBSOCKET_MESSAGE_BYTES, WEBSOCKET_UPGRADE_MS } from './limits.ts'
import { remoteAddressOf } from './socket-address.ts'
import { SocketListener } from './socket-listener.ts'
import type { Sockets } from './sockets.ts'
import type { TransportComponents } from './tcp.ts'
import { WebSocketConnection } from './websocket-connection.ts'

const SETTINGS = { maxPayload: MAX_WEBSOCKET_MESSAGE_BYTES, perMessageDeflate: false } as const

export function webSockets(sockets: Sockets): (components: TransportComponents) => Transport {
  return (components) => new WebSockets(sockets, components)
}

class WebSockets implements Transport {
  readonly [transportSymbol] = true
  readonly [Symbol.toStringTag] = '@mesh/websockets'
  readonly [serviceCapabilities]: string[] = ['@libp2p/transport']
  readonly #sockets: Sockets
  readonly #log: Logger

  constructor(sockets: Sockets, { logger }: TransportComponents) {
    this.#sockets = sockets
    this.#log = logger.forComponent('websockets')
  }

  async dial(address: Multiaddr, { upgrader, ...options }: DialTransportOptions): Promise<Connection> {
    const websocket = await this.#connect(address, options.signal)
    const connection = this.#connection(websocket, 'outbound', address)
    try {
      return await upgrader.upgradeOutbound(connection, options)
    } catch (error) {
      connection.abort(toError(error))
      throw error
    }
  }

  createListener({ upgrader }: CreateListenerOptions): Listener {
    const accept = createUpgrades(this.#sockets)
    return new SocketListener({
      sockets: this.#sockets,
      upgrader,
      suffix: '/ws',
      connect: async (socket) => {
        const remote = remoteAddressOf(socket)?.encapsulate('/ws')
        if (remote === undefined) throw new Error('the other side has gone')
        return this.#connection(await accept(socket), 'inbound', remote)
      },
    })
  }

  listenFilter(addresses: Multiaddr[]): Multiaddr[] {
    return addresses.filter((address) => Ws.exactMatch(address))
  }

  dialFilter(addresses: Multiaddr[]): Multiaddr[] {
    return addresses.filter((address) => Ws.exactMatch(address) || Wss.exactMatch(address))
  }

  async #connect(address: Multiaddr, signal: AbortSignal): Promise<WebSocket> {
    signal.throwIfAborted()
    const url = multiaddrToUri(address)
    const isSecure = url.startsWith('wss:')
    // the path is that of the request, and no socket
    const createConnection = (given: object) => {
      const options = { ...given, path: undefined } as ConnectionOptions
      return this.#sockets.connecting(
        isSecure
          ? connectTls({ servername: serverNameOf(options.host), ...options })
          : connectTcp(options as NetConnectOpts),
      )
    }
    const websocket = endAtErrors(new WebSocket(url, { ...SETTINGS, createConnection }))
    try {
      await once(websocket, 'open', { signal })
      return websocket
    } catch (error) {
      websocket.terminate()
      throw error
    }
  }

  #connection(websocket: WebSocket, direction: 'inbound' | 'outbound', remoteAddr: Multiaddr) {
    const { budget, clock } = this.#sockets
    return new WebSocketConnection({ websocket, budget, clock, direction, remoteAddr, log: this.#log })
  }
}

/** Names the host that a certificate has to name; IP addresses are no such names. */
const serverNameOf = (host = ''): string => (isIP(host) === 0 ? host : '')

/** Gives what makes accepted sockets WebSockets: each has to ask for it in time. */
function createUpgrades({ clock }: Sockets): (socket: Socket) => Promise<WebSocket> {
  const waiting = new WeakMap<object, (websocket: WebSocket) => void>()
  const upgrades = new WebSocketServer({ ...SETTINGS, noServer: true })
  // never listens: it is given sockets
  const http = createServer((_request, response) => {
    response.writeHead(400, { connection: 'close' }).end('Only WebSocket connections are supported')
  })
  http.on('upgrade', (request, socket, head) => {
    const done = waiting.get(socket)
    if (done === undefined) return socket.destroy()
    upgrades.handleUpgrade(request, socket, head, (websocket) => done(endAtErrors(websocket)))
  })
  return (socket) =>
    new Promise((resolve, reject) => {
      const cancel = clock.after(WEBSOCKET_UPGRADE_MS, () => socket.destroy())
      const onClose = () => {
        cancel()
        reject(new Error('no WebSocket was asked for'))
      }
      socket.once('close', onClose)
      waiting.set(socket, (websocket) => {
        cancel()
        socket.off('close', onClose)
        resolve(websocket)
      })
      http.emit('connection', socket)
    })
}

/** Ends a WebSocket at its first error: `ws` itself goes on reading for 30 s. */
function endAtErrors(websocket: WebSocket): WebSocket {
  return websocket.on('error', () => websocket.terminate())
}
