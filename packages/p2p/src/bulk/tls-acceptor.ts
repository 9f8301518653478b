/** The accepting side of TLS handshakes with pre-shared keys: bounded by address, by peer and in all, and in time. */
import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import type { PeerId } from '@mesh/core'
import { type Place, Scope } from '@mesh/core/limits'
import type { Refusals } from '../refusals.ts'
import type { Identities, Identity } from './identities.ts'
import { HANDSHAKE_MS, HANDSHAKES } from './limits.ts'
import type { TlsSettings } from './tls-settings.ts'

export interface TlsAcceptorInit {
  readonly identities: Identities
  readonly settings: TlsSettings
  readonly refusals: Refusals
  /** Reserves the place of a connection; it is held during the handshake. */
  readonly reserve: (peer: PeerId, address: string) => Place | undefined
}

export interface TlsAcceptor {
  /** Begins a handshake with a socket whose ClientHello names this identity. */
  take(socket: Socket, identity: string): void
  stop(): void
}

export function createTlsAcceptor({ identities, settings, refusals, reserve }: TlsAcceptorInit): TlsAcceptor {
  const handshakes = new Scope(HANDSHAKES)
  /** Ends the count of a handshake, by the connection's addresses. */
  const underWay = new Map<string, () => void>()
  const sockets = new Set<Socket>()
  /** Set when the handshake's ClientHello is looked at. */
  const named = new WeakMap<TLSSocket, Identity>()
  let stopped = false

  // never listens: it is given sockets
  const server = createServer({
    ...settings,
    handshakeTimeout: HANDSHAKE_MS,
    pskCallback(socket, text) {
      const identity = identities.get(text)
      if (identity === undefined) return null
      named.set(socket, identity)
      return identity.key
    },
  })
  server.on('secureConnection', (socket) => {
    underWay.get(addressesOf(socket))?.()
    const identity = named.get(socket)
    // a session that was resumed by a ticket names nobody
    if (identity === undefined || stopped) return void socket.destroy()
    socket.on('error', () => {})
    identity.onSocket(socket)
  })
  server.on('tlsClientError', (_error, socket) => {
    const peer = named.get(socket)?.peer
    refusals.refuse('bulk.bad_handshake', { ...(peer !== undefined && { peer }) })
    socket.destroy()
  })

  return {
    take(socket, text) {
      const peer = identities.get(text)?.peer
      const address = socket.remoteAddress
      if (peer === undefined || address === undefined || stopped) return void socket.destroy()
      const handshake = handshakes.reserve({ peer, address })
      const place = handshake && reserve(peer, address)
      if (handshake === undefined || place === undefined) {
        handshake?.release()
        refusals.refuse('bulk.too_many', { peer })
        return void socket.destroy()
      }
      const addresses = addressesOf(socket)
      const release = () => {
        if (!sockets.delete(socket)) return
        underWay.delete(addresses)
        handshake.release()
        place.release()
      }
      sockets.add(socket)
      underWay.set(addresses, release)
      socket.once('close', release)
      server.emit('connection', socket)
    },
    stop() {
      stopped = true
      for (const socket of sockets) socket.destroy()
    },
  }
}

function addressesOf({ remoteAddress, remotePort, localPort }: Socket): string {
  return `${remoteAddress} ${remotePort} ${localPort}`
}
