/**
 * Tells TLS connections of members from libp2p's on one port.
 *
 * 1. Waits for the first bytes of a socket, and puts them back.
 * 2. Gives a ClientHello with an identity of ours to the bulk path.
 * 3. Gives everything else to libp2p. A scanner sees what every libp2p host shows.
 */
import type { Socket } from 'node:net'
import type { Clock } from '@mesh/core'
import type { Door } from '../transport/socket-listener.ts'
import { pskIdentityOf } from './client-hello.ts'
import { SNIFF_MS } from './limits.ts'

export interface TlsDoor {
  /** Sees each accepted socket, and takes those of the bulk path. */
  readonly see: Door
  /** Gives sockets whose identity `isKnown` to `take` from here on; before, libp2p gets all. */
  open(init: TlsDoorInit): void
  /** Ends the sockets that have said nothing yet; from here on libp2p gets all. */
  close(): void
}

interface TlsDoorInit {
  readonly isKnown: (identity: string) => boolean
  /** The socket is as it was accepted: nothing of it is read. */
  readonly take: (socket: Socket, identity: string) => void
  readonly clock: Clock
}

export function createTlsDoor(): TlsDoor {
  let init: TlsDoorInit | undefined
  const silent = new Set<Socket>()
  return {
    open(next) {
      init = next
    },
    close() {
      init = undefined
      for (const socket of silent) socket.destroy()
    },
    async see(socket) {
      if (init === undefined) return false
      const { isKnown, take, clock } = init
      silent.add(socket)
      const bytes = await firstBytes(socket, clock)
      silent.delete(socket)
      const identity = bytes === undefined ? undefined : pskIdentityOf(bytes)
      if (socket.destroyed || identity === undefined || !isKnown(identity)) return false
      take(socket, identity)
      return true
    },
  }
}

/** Resolves to undefined when nothing came in time, or the socket ended. */
function firstBytes(socket: Socket, clock: Clock): Promise<Uint8Array | undefined> {
  return new Promise((resolve) => {
    const done = (bytes?: Uint8Array) => {
      cancel()
      socket.off('readable', onReadable)
      socket.off('close', onClose)
      resolve(bytes)
    }
    const onReadable = () => {
      const bytes = socket.read() as Buffer | null
      if (bytes !== null) socket.unshift(bytes)
      done(bytes ?? undefined)
    }
    const onClose = () => done()
    const cancel = clock.after(SNIFF_MS, onClose)
    socket.on('readable', onReadable)
    socket.on('close', onClose)
  })
}
