/**
 * Tells TLS connections of members from libp2p's on one port: 1 the first bytes of a socket are awaited, and put back;
 * 2 a ClientHello that names an identity of ours goes to the bulk path; 3 all else goes to libp2p, so that a scanner
 * sees what every libp2p host shows.
 */
import type { Socket } from 'node:net'
import type { Clock } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import type { SocketInterceptor } from '../upstream/tcp-sockets.ts'
import { pskIdentityOf } from './client-hello.ts'
import { SNIFF_MS, SNIFFED_SOCKETS } from './limits.ts'

export interface TlsDoor {
  /** Takes each accepted socket and chooses where it goes. */
  readonly intercept: SocketInterceptor
  /** Sends sockets whose identity `isKnown` to `take` from here on; until then libp2p gets all. */
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
  const sniffed = new Set<Socket>()
  const places = new Scope(SNIFFED_SOCKETS)
  return {
    open(next) {
      init = next
    },
    close() {
      init = undefined
      for (const socket of sniffed) socket.destroy()
    },
    intercept(socket, pass) {
      // nobody's silent sockets keep the connections of others from the bulk path
      const place = init && places.reserve({ address: socket.remoteAddress ?? '' })
      if (init === undefined || place === undefined) return pass()
      const { isKnown, take, clock } = init
      sniffed.add(socket)
      awaitFirstBytes(socket, clock, (bytes) => {
        sniffed.delete(socket)
        place.release()
        if (socket.destroyed) return
        const identity = bytes === undefined ? undefined : pskIdentityOf(bytes)
        if (identity !== undefined && isKnown(identity)) take(socket, identity)
        else pass()
      })
    },
  }
}

/** Undefined: nothing came in time, or the socket ended. */
function awaitFirstBytes(
  socket: Socket,
  clock: Clock,
  onBytes: (bytes: Uint8Array | undefined) => void,
): void {
  const done = (bytes: Uint8Array | undefined) => {
    cancel()
    socket.off('readable', onReadable)
    socket.off('close', onClose)
    onBytes(bytes)
    socket.off('error', onError)
  }
  const onReadable = () => {
    const bytes = socket.read() as Buffer | null
    if (bytes !== null) socket.unshift(bytes)
    done(bytes ?? undefined)
  }
  const onClose = () => done(undefined)
  const onError = () => {}
  const cancel = clock.after(SNIFF_MS, () => done(undefined))
  socket.on('readable', onReadable)
  socket.on('close', onClose)
  socket.on('error', onError)
}
