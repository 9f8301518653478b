/** The pings of a connection: those of this end, which measure the round trip, and the answers to the other end's. */
import type { Clock } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import { FLAG, FrameError } from './frame.ts'
import {
  EXTRA_PING_GAP_MS,
  LEAST_ROUND_TRIP_MS,
  MAX_EXTRA_PINGS,
  MAX_REFUSED_PINGS,
  MUXER_PING_INTERVAL_MS,
} from './limits.ts'
import { PINGS } from '../limits.ts'

export class Pings {
  /** Shortest round trip in ms: a ping that waited behind other bytes says nothing of the path. */
  rttMs: number | undefined
  readonly #clock: Clock
  readonly #send: (id: number, flags: number) => void
  readonly #answers: TokenBucket
  #refused = 0
  #nextId = 0
  /** The ping that has no answer yet. */
  #asked: { readonly id: number; readonly atMs: number } | undefined
  #extra = 0
  #lastMs = Number.NEGATIVE_INFINITY
  #cancel = () => {}

  constructor(clock: Clock, send: (id: number, flags: number) => void) {
    this.#clock = clock
    this.#send = send
    this.#answers = createTokenBucket(PINGS, clock)
  }

  /** Pings now and then. */
  start(): void {
    this.#cancel = this.#clock.after(MUXER_PING_INTERVAL_MS, () => this.start())
    this.#ping()
  }

  stop(): void {
    this.#cancel()
  }

  /** Measures anew when a stream opens, if the last measure was some time ago. */
  measure(): void {
    const nowMs = this.#clock.monotonic()
    if (this.#extra === MAX_EXTRA_PINGS || nowMs - this.#lastMs < EXTRA_PING_GAP_MS) return
    this.#extra++
    this.#ping()
  }

  /** Takes a ping or an answer. @throws Error when the other side asks too often, or answers what nobody asked */
  handle(flags: number, id: number): void {
    if (flags === FLAG.syn) return this.#answer(id)
    if (flags !== FLAG.ack || this.#asked?.id !== id) throw new FrameError('a ping is not a ping of this end')
    const rttMs = Math.max(this.#clock.monotonic() - this.#asked.atMs, LEAST_ROUND_TRIP_MS)
    this.rttMs = Math.min(this.rttMs ?? rttMs, rttMs)
    this.#asked = undefined
  }

  #ping(): void {
    if (this.#asked !== undefined) return
    this.#lastMs = this.#clock.monotonic()
    this.#asked = { id: this.#nextId++, atMs: this.#lastMs }
    this.#send(this.#asked.id, FLAG.syn)
  }

  #answer(id: number): void {
    if (this.#answers.take()) this.#send(id, FLAG.ack)
    else if (++this.#refused > MAX_REFUSED_PINGS) throw new Error('too many pings')
  }
}
