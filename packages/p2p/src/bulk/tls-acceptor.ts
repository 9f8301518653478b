/** The accepting side of TLS handshakes with pre-shared keys: bounded by address, by peer and in all, and in time. */
import type { Socket } from 'node:net'
import { createServer, type TLSSocket } from 'node:tls'
import { addressGroup, KeyedCounts, type PeerId } from '@mesh/core'
import type { Refusals } from '../refusals.ts'
import type { Begun } from './acceptor.ts'
import type { Identities, Identity } from './identities.ts'
import {
  HANDSHAKE_MS,
  MAX_HANDSHAKES,
  MAX_HANDSHAKES_PER_ADDRESS,
  MAX_HANDSHAKES_PER_PEER,
} from './limits.ts'
import type { TlsSettings } from './tls-settings.ts'

export interface TlsAcceptorInit {
  readonly identities: Identities
  readonly settings: TlsSettings
  readonly refusals: Refusals
  /** True if one more connection would be taken, beside those with handshakes under way. */
  readonly hasRoom: (peer: PeerId, address: string, begun: Begun) => boolean
}

export interface TlsAcceptor {
  /** Begins a handshake with a socket whose ClientHello names this identity. */
  take(socket: Socket, identity: string): void
  stop(): void
}

export function createTlsAcceptor({ identities, settings, refusals, hasRoom }: TlsAcceptorInit): TlsAcceptor {
  const slots = createHandshakeSlots()
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
      const isTaken = hasRoom(peer, addressGroup(address), slots.begun(address, peer))
      if (!isTaken || !slots.take(address, peer)) {
        refusals.refuse('bulk.too_many', { peer })
        return void socket.destroy()
      }
      const addresses = addressesOf(socket)
      const release = () => {
        if (!sockets.delete(socket)) return
        underWay.delete(addresses)
        slots.release(address, peer)
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

function createHandshakeSlots() {
  const byAddress = new KeyedCounts<string>()
  const byPeer = new KeyedCounts<PeerId>()
  return {
    begun: (address: string, peer: PeerId): Begun => ({
      ofPeer: byPeer.of(peer),
      ofAddress: byAddress.of(addressGroup(address)),
      inAll: byPeer.total,
    }),
    take(address: string, peer: PeerId): boolean {
      const group = addressGroup(address)
      if (byPeer.total >= MAX_HANDSHAKES || byPeer.of(peer) >= MAX_HANDSHAKES_PER_PEER) return false
      if (byAddress.of(group) >= MAX_HANDSHAKES_PER_ADDRESS) return false
      byAddress.add(group)
      byPeer.add(peer)
      return true
    },
    release(address: string, peer: PeerId): void {
      byAddress.remove(addressGroup(address))
      byPeer.remove(peer)
    },
  }
}
