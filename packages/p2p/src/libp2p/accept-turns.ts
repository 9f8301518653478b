/**
 * Gives accepted sockets to libp2p in turns: each costs it about a millisecond before anything is known of who came, and
 * hundreds may come at once.
 */
import type { Socket } from 'node:net'
import { addressGroup, type Clock, greatestGroup, LoopTurns } from '@mesh/core'
import { ACCEPTS_TURN_MS, MAX_WAITING_SOCKETS } from '../limits.ts'

type AcceptedSocket = Pick<Socket, 'remoteAddress' | 'destroyed' | 'destroy' | 'once'>

export class AcceptTurns {
  readonly #turns: LoopTurns
  /** Those that wait for a turn, the oldest first. */
  readonly #waiting = new Set<AcceptedSocket>()

  constructor(clock: Pick<Clock, 'monotonic' | 'after'>) {
    this.#turns = new LoopTurns(ACCEPTS_TURN_MS, clock)
  }

  /** Calls `accept` in a turn that has time for it; never for a socket that closed meanwhile, or had to make way. */
  take(socket: AcceptedSocket, accept: () => void): void {
    if (this.#waiting.size === 0 && this.#turns.isTimeLeft()) return accept()
    this.#waiting.add(socket)
    // nobody else listens yet
    socket.once('error', () => {})
    socket.once('close', () => this.#waiting.delete(socket))
    this.#turns.later(() => {
      if (this.#waiting.delete(socket) && !socket.destroyed) accept()
    })
    if (this.#waiting.size > MAX_WAITING_SOCKETS) this.#endOne()
  }

  /** Ends the newest of the address that has the most: who waits longest is next. */
  #endOne(): void {
    const newest = greatestGroup(this.#waiting, ({ remoteAddress }) => addressGroup(remoteAddress ?? '')).at(
      -1,
    )
    if (newest === undefined) return
    this.#waiting.delete(newest)
    newest.destroy()
  }
}
