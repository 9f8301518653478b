/** How far a transfer is, for people: bytes, rate over the last seconds, time left. */
import type { Clock } from '@mesh/core'
import { RATE_WINDOW_MS } from './limits.ts'

export interface TransferProgress {
  /** Bytes that the receiver holds, those of earlier tries included. */
  readonly bytes: number
  /** Undefined where nobody said, as legacy members. */
  readonly totalBytes: number | undefined
  /** Bytes per second over the last 5 s. */
  readonly rate: number
  /** Ms at this rate; undefined while that is unknown. */
  readonly leftMs: number | undefined
}

interface Sample {
  readonly at: number
  readonly moved: number
}

const SAMPLE_INTERVAL_MS = 250

export class ProgressMeter {
  readonly #clock: Clock
  readonly #samples: Sample[] = []
  /** Only what came over the network: what was there already has no rate. */
  #moved = 0
  bytes = 0
  totalBytes: number | undefined

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** @param isMoved false: the bytes were there, or are taken back */
  add(byteCount: number, isMoved: boolean): void {
    this.bytes += byteCount
    if (!isMoved) return
    this.#moved += byteCount
    const at = this.#clock.monotonic()
    const last = this.#samples.at(-1)
    if (last !== undefined && at - last.at < SAMPLE_INTERVAL_MS) return
    this.#samples.push({ at, moved: this.#moved })
    while ((this.#samples[0]?.at ?? at) < at - RATE_WINDOW_MS) this.#samples.shift()
  }

  read(): TransferProgress {
    const { bytes, totalBytes } = this
    const rate = this.#rate()
    const left = totalBytes === undefined ? undefined : totalBytes - bytes
    const leftMs = left === undefined || rate === 0 ? undefined : (left / rate) * 1_000
    return { bytes, totalBytes, rate, leftMs }
  }

  #rate(): number {
    const now = this.#clock.monotonic()
    const first = this.#samples.find(({ at }) => at >= now - RATE_WINDOW_MS)
    if (first === undefined || now <= first.at) return 0
    return ((this.#moved - first.moved) / (now - first.at)) * 1_000
  }
}
