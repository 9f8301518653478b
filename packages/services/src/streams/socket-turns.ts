/**
 * When the sockets of targets are read. A connection with hundreds of streams tells all of them at once that there is room
 * again, hundreds may be joined at once, and of a target that sends without end Node reads 2 MiB before the next socket has
 * its turn: a question to the API waited for 200 ms. Here a few are read on in each turn of the event loop, and when blocks
 * of all were handed on for a while they wait for the next turn. Nothing is put into a turn that needs none: the event loop
 * would not wait then, and read what comes in small pieces.
 */
import type { Socket } from 'node:net'
import { type Clock, systemClock } from '@mesh/core'
import { SOCKETS_AT_ONCE, SOCKETS_TURN_MS } from '../limits.ts'

export class SocketTurns {
  readonly #clock: Pick<Clock, 'monotonic'>
  readonly #waiting = new Set<Socket>()
  /** The sockets that are read now. */
  readonly #reading = new Set<Socket>()
  /** How many were read on in this turn of the event loop. */
  #begun = 0
  /** When the first of the blocks that follow each other was handed on, and when the last one was. */
  #startMs = 0
  #lastMs = Number.NEGATIVE_INFINITY
  /** All of them wait for the next turn. */
  #isStopped = false
  #hasNext = false

  constructor(clock: Pick<Clock, 'monotonic'>) {
    this.#clock = clock
  }

  /** Has a socket read on, in this turn of the event loop or a later one. */
  resume(socket: Socket): void {
    this.#awaitNext()
    if (this.#begun >= SOCKETS_AT_ONCE || this.#isStopped) this.#waiting.add(socket)
    else {
      this.#begun++
      this.#reading.add(socket)
      socket.resume()
    }
  }

  /** Hands on a block that was read of a socket, of which no more is read until `resume` where `send` gives false. */
  handOn(socket: Socket, send: () => boolean): void {
    const nowMs = this.#clock.monotonic()
    if (nowMs - this.#lastMs >= SOCKETS_TURN_MS) this.#startMs = nowMs
    if (send()) this.#reading.add(socket)
    else {
      this.forget(socket)
      socket.pause()
    }
    this.#lastMs = this.#clock.monotonic()
    if (this.#isStopped || this.#lastMs - this.#startMs >= SOCKETS_TURN_MS) this.#stopAll()
  }

  /** The socket has closed, or is to stay as it is. */
  forget(socket: Socket): void {
    this.#reading.delete(socket)
    this.#waiting.delete(socket)
  }

  #stopAll(): void {
    this.#isStopped = true
    this.#awaitNext()
    for (const socket of this.#reading) {
      socket.pause()
      this.#waiting.add(socket)
    }
    this.#reading.clear()
  }

  #awaitNext(): void {
    if (this.#hasNext) return
    this.#hasNext = true
    setImmediate(this.#next)
  }

  readonly #next = (): void => {
    this.#hasNext = false
    this.#begun = 0
    this.#isStopped = false
    this.#startMs = this.#clock.monotonic()
    for (const socket of this.#waiting) {
      if (this.#begun >= SOCKETS_AT_ONCE) return
      this.#waiting.delete(socket)
      if (!socket.destroyed) this.resume(socket)
    }
  }
}

/** Those of all connections to services and egress: there is one event loop. */
export const socketTurns = new SocketTurns(systemClock)
