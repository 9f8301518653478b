/**
 * Bounds what connections have sent that nobody has read: heads and bodies that are not whole, and requests that wait for
 * their turn. Each may be as long as the contract says, and there may be thousands of connections. When all of them hold too
 * much, those that hold the most end, of the address whose connections hold the most.
 *
 * Looks every few milliseconds at the sockets on which a request may be coming: a listener of `data` would have Node hand
 * each block of bytes to JavaScript instead of its parser, which costs as much again in buffers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import type { Clock } from '@mesh/core'
import { MAX_UNREAD_BYTES, UNREAD_CHECK_MS } from '../limits.ts'
import { otherMachineOf } from '../messages/other-machine.ts'

/** How much longer than the counting of what all hold it rests afterwards. */
const COUNTING_REST = 4

/** A connection, and how many bytes of its next request have come. */
type Held = readonly [socket: Socket, bytes: number]

export class UnreadBytes {
  readonly #clock: Clock
  /** The connections on which a request may be coming, and how many bytes each had sent before that. */
  readonly #before = new Map<Socket, number>()
  #isWaiting = false
  /** How many bytes all held when they were counted last, and when they may be again. */
  #held = 0
  #restUntilMs = 0

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts what comes on a new connection. */
  watch(socket: Socket): void {
    this.#await(socket)
    socket.once('close', () => this.#before.delete(socket))
  }

  /** Counts a connection anew when a request on it was answered: one that was read in whole waits for its turn. */
  begins({ socket }: IncomingMessage, res: ServerResponse): void {
    res.once('close', () => {
      if (!socket.destroyed) this.#await(socket)
    })
  }

  #await(socket: Socket): void {
    this.#before.set(socket, socket.bytesRead)
    this.#checkAfter(UNREAD_CHECK_MS)
  }

  #checkAfter(ms: number): void {
    if (this.#isWaiting || this.#before.size === 0) return
    this.#isWaiting = true
    this.#clock.after(ms, () => {
      this.#isWaiting = false
      const bytes = this.enforce()
      // in the next turn of the event loop, where much comes
      this.#checkAfter(bytes > MAX_UNREAD_BYTES / 4 ? 0 : UNREAD_CHECK_MS)
    })
  }

  /**
   * Ends those that hold too much; gives how many bytes all held. Counting thousands in each turn, in which one more connection
   * comes, kept a probe waiting for 200 ms: it has a part of the time alone.
   */
  enforce(): number {
    const startMs = this.#clock.monotonic()
    if (startMs < this.#restUntilMs) return this.#held
    let all = 0
    for (const [socket, before] of this.#before) all += socket.bytesRead - before
    const endMs = this.#clock.monotonic()
    this.#restUntilMs = endMs + (endMs - startMs) * COUNTING_REST
    this.#held = all
    let surplus = all - MAX_UNREAD_BYTES
    if (surplus <= 0) return all
    const held = [...this.#before].map(([socket, before]): Held => [socket, socket.bytesRead - before])
    const byMachine = [...Map.groupBy(held, ([socket]) => otherMachineOf(socket.remoteAddress)).values()]
    const largestFirst = byMachine
      .sort((a, b) => sum(b) - sum(a))
      .flatMap((group) => group.sort((a, b) => b[1] - a[1]))
    for (const [socket, bytes] of largestFirst) {
      if (surplus <= 0) break
      socket.destroy()
      surplus -= bytes
    }
    return all
  }
}

const sum = (held: readonly Held[]) => held.reduce((bytes, [, more]) => bytes + more, 0)
