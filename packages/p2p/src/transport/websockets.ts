/** A transport of libp2p over WebSockets, for browsers and for networks that let only HTTP through. */
import { once } from 'node:events'
import { createServer } from 'node:http'
import { connect as connectTcp, isIP, type NetConnectOpts, type Socket } from 'node:net'
import { connect as connectTls, type ConnectionOptions } from 'node:tls'
import type { Transport } from '@libp2p/interface'
import { WebSockets as Ws, WebSocketsSecure as Wss } from '@multiformats/multiaddr-matcher'
import { multiaddrToUri } from '@multiformats/multiaddr-to-uri'
import { WebSocket, WebSocketServer } from 'ws'
import { MAX_WEBSOCKET_MESSAGE_BYTES, WEBSOCKET_UPGRADE_MS } from './limits.ts'
import { remoteAddressOf } from './socket-address.ts'
import { SocketListener } from './socket-listener.ts'
import { createSocketTransport, type TransportComponents } from './socket-transport.ts'
import type { Sockets } from './sockets.ts'
import { WebSocketConnection } from './websocket-connection.ts'

const SETTINGS = { maxPayload: MAX_WEBSOCKET_MESSAGE_BYTES, perMessageDeflate: false } as const

export function webSockets(sockets: Sockets): (components: TransportComponents) => Transport {
  return ({ logger }) => {
    const log = logger.forComponent('websockets')
    const { budget, clock } = sockets
    return createSocketTransport({
      name: 'websockets',
      canListen: (address) => Ws.exactMatch(address),
      canDial: (address) => Ws.exactMatch(address) || Wss.exactMatch(address),
      async connect(remoteAddr, signal) {
        const websocket = await open(sockets, multiaddrToUri(remoteAddr), signal)
        return new WebSocketConnection({ websocket, budget, clock, direction: 'outbound', remoteAddr, log })
      },
      createListener(upgrader) {
        const accept = createUpgrades(sockets)
        return new SocketListener({
          sockets,
          upgrader,
          suffix: '/ws',
          async connect(socket) {
            const remoteAddr = remoteAddressOf(socket).encapsulate('/ws')
            const websocket = await accept(socket)
            return new WebSocketConnection({
              websocket,
              budget,
              clock,
              direction: 'inbound',
              remoteAddr,
              log,
            })
          },
        })
      },
    })
  }
}

async function open(sockets: Sockets, url: string, signal: AbortSignal): Promise<WebSocket> {
  const isSecure = url.startsWith('wss:')
  // the path is that of the request, and no socket
  const createConnection = (given: object) => {
    const options = { ...given, path: undefined } as ConnectionOptions
    return sockets.connecting(
      isSecure
        ? connectTls({ ...options, servername: options.servername ?? serverNameOf(options.host) })
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
