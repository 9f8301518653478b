/**
 * Bounds what connections have sent that nobody has read: heads and bodies that are not whole, and requests that wait for
 * their turn. Each may be as long as the contract says, and there may be thousands of connections. When all of them hold too
 * much, those that hold the most end, of the address whose connections hold the most. New connections are read a few at a
 * time, as each brings 64 KiB at once.
 *
 * Looks at the sockets every few milliseconds: a listener of `data` would have Node hand each block of bytes to JavaScript
 * instead of its parser, which costs as much again in buffers.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { addressGroup, type Clock, isLoopback } from '@mesh/core'
import { MAX_UNREAD_BYTES, NEW_CONNECTIONS_AT_ONCE, UNREAD_CHECK_MS } from '../limits.ts'
import { readOn, stopReading } from './socket-reading.ts'

/** A connection, and how many bytes it has sent since its last request was read. */
type Held = readonly [socket: Socket, bytes: number]

export class UnreadBytes {
  readonly #clock: Clock
  /** How many bytes each connection had sent when its last request was read. */
  readonly #read = new Map<Socket, number>()
  /** New connections that are not read yet. */
  readonly #fresh: Socket[] = []
  /** How many new ones are read for the first time in this turn of the event loop. */
  #begun = 0
  #isWaiting = false

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Counts what comes on a new connection, until it closes. */
  watch(socket: Socket): void {
    this.#read.set(socket, 0)
    socket.once('close', () => this.#read.delete(socket))
    this.#checkSoon()
    if (this.#begun++ === 0) this.#clock.after(0, this.#readFresh)
    if (this.#begun <= NEW_CONNECTIONS_AT_ONCE) return
    stopReading(socket)
    this.#fresh.push(socket)
  }

  /** Counts a connection anew when a request on it was read in whole, or is answered. */
  begins(req: IncomingMessage, res: ServerResponse): void {
    const { socket } = req
    const anew = () => {
      if (this.#read.has(socket)) this.#read.set(socket, socket.bytesRead)
    }
    req.once('end', anew)
    res.once('close', anew)
  }

  readonly #readFresh = (): void => {
    this.#enforce()
    const now = this.#fresh.splice(0, NEW_CONNECTIONS_AT_ONCE)
    for (const socket of now) readOn(socket)
    this.#begun = now.length
    if (now.length > 0) this.#clock.after(0, this.#readFresh)
  }

  #checkSoon(afterMs = UNREAD_CHECK_MS): void {
    if (this.#isWaiting || this.#read.size === 0) return
    this.#isWaiting = true
    this.#clock.after(afterMs, () => {
      this.#isWaiting = false
      const bytes = this.#enforce()
      // in the next turn of the event loop, where much comes
      this.#checkSoon(bytes > MAX_UNREAD_BYTES / 4 ? 0 : UNREAD_CHECK_MS)
    })
  }

  /** Gives how many bytes were held. */
  #enforce(): number {
    const held = [...this.#read]
      .map(([socket, read]): Held => [socket, socket.bytesRead - read])
      .filter(([, bytes]) => bytes > 0)
    const all = sum(held)
    let surplus = all - MAX_UNREAD_BYTES
    if (surplus <= 0) return all
    const byAddress = [...Map.groupBy(held, ([socket]) => groupOf(socket)).values()]
    for (const group of byAddress.sort((a, b) => sum(b) - sum(a))) {
      for (const [socket, bytes] of group.sort((a, b) => b[1] - a[1])) {
        if (surplus <= 0) return all
        socket.destroy()
        surplus -= bytes
      }
    }
    return all
  }
}

const sum = (held: readonly Held[]) => held.reduce((bytes, [, more]) => bytes + more, 0)

/** The machine that it comes from; '' for this one. */
function groupOf({ remoteAddress = '' }: Socket): string {
  return remoteAddress === '' || isLoopback(remoteAddress) ? '' : addressGroup(remoteAddress)
}
