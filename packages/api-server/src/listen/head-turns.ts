/**
 * Which connections are read on which the head of a request may be coming, or a body bit by bit. Node reads of all that have
 * something, 64 KiB each and parsed at once, before anything else has its turn: a thousand heads that begin together had a
 * question for the node's health wait for 150 ms, two thousand bodies of which a byte comes for 130. Here, when a turn of the
 * event loop has read for some time, the connections that it has not come to wait for a later one: half as many are read at
 * once as long as these are too many, known ones, on which something was answered, by turns with new ones, and bodies beside
 * them. A connection of which much came in one block is left to `ReadTurns`.
 *
 * A new connection gets its parser, and all that watches it, with its first turn: it takes 0.1 ms, and one that is taken from the
 * system alone 0.025, so that of thousands which come at once the last one is known of soon.
 */
import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Socket } from 'node:net'
import { type Clock, LoopTurns } from '@mesh/core'
import {
  HEADS_AT_ONCE,
  HEADS_TURN_MS,
  KNOWN_READ_ALWAYS,
  MIN_HEADS_AT_ONCE,
  NEW_HEADS_AT_ONCE,
} from '../limits.ts'
import { AddressTurns } from './address-turns.ts'
import { Arrivals } from './arrivals.ts'
import { isStopped, readOn, stopReading } from './socket-reading.ts'

export interface HeadTurnsInit {
  /** Called for each connection, with its first turn. */
  readonly onBegin: (socket: Socket) => void
  /** Called before any that wait are read on. */
  readonly beforeTurn: () => void
}

export class HeadTurns {
  readonly #init: HeadTurnsInit
  readonly #turns: LoopTurns
  readonly #arrivals: Arrivals
  readonly #reading = new Set<Socket>()
  /** Those that wait: known ones, new ones, and those with a body. */
  readonly #known = new AddressTurns<Socket>()
  readonly #new = new AddressTurns<Socket>()
  readonly #bodies = new AddressTurns<Socket>()
  /** Those of which none has had a turn. */
  readonly #unbegun = new WeakSet<Socket>()
  /** The last request on each connection on which one came. */
  readonly #last = new WeakMap<Socket, ServerResponse>()
  #atOnce = HEADS_AT_ONCE
  /** Some have been held since the last ones were read on. */
  #isTooMuch = false

  constructor(init: HeadTurnsInit, clock: Clock) {
    this.#init = init
    this.#turns = new LoopTurns(HEADS_TURN_MS, clock)
    this.#arrivals = new Arrivals(clock)
  }

  /** Takes a new connection, which must not be read yet. */
  watch(socket: Socket): void {
    this.#arrivals.note()
    this.#unbegun.add(socket)
    this.#await(socket)
  }

  /** A request has come: its connection is left alone until it is answered, or more of its body comes. */
  begins({ socket }: IncomingMessage, res: ServerResponse): void {
    this.#leave(socket)
    this.#last.set(socket, res)
    res.once('close', () => {
      if (!socket.destroyed && this.#last.get(socket) === res) this.#reading.add(socket)
    })
  }

  /** A block of bytes came on a connection, and was parsed. */
  came(socket: Socket, isLong: boolean): void {
    if (isLong) this.#reading.delete(socket)
    else if (this.#hasBody(socket)) this.#reading.add(socket)
    if (this.#turns.isTimeLeft()) return
    this.#isTooMuch = true
    // those that were answered last are the most likely to be used
    const latestFirst = [...this.#reading].reverse()
    const isKnown = (each: Socket) => this.#last.has(each) && !this.#hasBody(each)
    const always = new Set(latestFirst.filter(isKnown).slice(0, KNOWN_READ_ALWAYS))
    for (const each of latestFirst) {
      if (always.has(each)) continue
      this.#reading.delete(each)
      // whoever reads a body has its connection wait while there is much of it
      if (!isStopped(each) && !each.isPaused()) this.#hold(each)
    }
  }

  /** Is a body coming? */
  #hasBody(socket: Socket): boolean {
    return this.#last.get(socket)?.req.complete === false
  }

  #hold(socket: Socket): void {
    stopReading(socket)
    this.#await(socket)
  }

  #await(socket: Socket): void {
    if (this.#waiting === 0) setImmediate(this.#readNext)
    const isKnown = this.#last.has(socket)
    const waiting = this.#hasBody(socket) ? this.#bodies : isKnown ? this.#known : this.#new
    waiting.add(socket)
  }

  get #waiting(): number {
    return this.#known.size + this.#new.size + this.#bodies.size
  }

  readonly #readNext = (): void => {
    this.#init.beforeTurn()
    if (this.#arrivals.goFirst()) {
      setImmediate(this.#readNext)
      return
    }
    this.#atOnce = this.#isTooMuch
      ? Math.max(this.#atOnce / 2, MIN_HEADS_AT_ONCE)
      : Math.min(this.#atOnce * 2, HEADS_AT_ONCE)
    this.#isTooMuch = false
    // reading many that have just come would keep those behind them waiting to be taken
    const mostNew = this.#arrivals.areMany ? MIN_HEADS_AT_ONCE : NEW_HEADS_AT_ONCE
    const ofNew = Math.min(this.#new.size, mostNew)
    const known = this.#known.take(Math.max(this.#atOnce / 2, this.#atOnce - ofNew))
    const others = this.#new.take(Math.min(this.#atOnce - known.length, mostNew))
    // what is behind a head takes no time from those who ask for the first time
    const ofBodies = this.#new.size > 0 ? 1 : this.#atOnce / 2
    const next = [...known, ...others, ...this.#bodies.take(ofBodies)]
    for (const socket of next) {
      if (this.#unbegun.delete(socket)) {
        socket.once('close', () => this.#leave(socket))
        this.#init.onBegin(socket)
      }
      this.#reading.add(socket)
      readOn(socket)
    }
    if (this.#waiting > 0) setImmediate(this.#readNext)
  }

  #leave(socket: Socket): void {
    this.#reading.delete(socket)
    this.#known.delete(socket)
    this.#new.delete(socket)
    this.#bodies.delete(socket)
  }
}
