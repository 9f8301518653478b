/**
 * When sockets are read on whose streams have room again. A connection with hundreds of streams tells all of them at once,
 * and Node would read all of their sockets before anything else has its turn: a question to the API waited for 200 ms.
 */
import type { Socket } from 'node:net'
import { SOCKETS_AT_ONCE } from '../limits.ts'

export class SocketTurns {
  readonly #waiting = new Set<Socket>()
  /** How many were read on in this turn of the event loop. */
  #begun = 0

  /** Has a socket read on, in this turn of the event loop or a later one. */
  resume(socket: Socket): void {
    if (this.#begun === 0) setImmediate(this.#next)
    if (this.#begun >= SOCKETS_AT_ONCE) this.#waiting.add(socket)
    else {
      this.#begun++
      socket.resume()
    }
  }

  readonly #next = (): void => {
    this.#begun = 0
    for (const socket of this.#waiting) {
      if (this.#begun >= SOCKETS_AT_ONCE) return
      this.#waiting.delete(socket)
      if (!socket.destroyed) this.resume(socket)
    }
  }
}

/** Those of all connections to services and egress: there is one event loop. */
export const socketTurns = new SocketTurns()
