/** Tells one peer how this node's socket can be reached: soon after a change, and not so often that it takes offence. */
import type { Clock } from '@mesh/core'
import { QUICK_TELLS, SLOW_TELL_MS, TELL_AFTER_MS } from './limits.ts'

interface CandidateTellerComponents {
  /** Sends the message with the candidates as they are then. */
  readonly tell: () => void
  /** Called after each that was sent because of a change. */
  readonly onChangeTold: () => void
  readonly clock: Clock
}

export class CandidateTeller {
  readonly #components: CandidateTellerComponents
  /** When it was told in the last minute. */
  #toldAt: number[] = []
  #cancel: (() => void) | undefined

  constructor(components: CandidateTellerComponents) {
    this.#components = components
  }

  tell(): void {
    this.#toldAt.push(this.#components.clock.monotonic())
    this.#components.tell()
  }

  /**
   * Another channel stands, over which nothing was said so far; what was said over the one before may be lost with it. Each
   * has an allowance of its own.
   */
  reopened(): void {
    this.#toldAt = []
    this.#cancel?.()
    this.#cancel = undefined
    this.tell()
    this.#components.onChangeTold()
  }

  /** The candidates changed: tells them, once for all changes within a short time. */
  tellSoon(): void {
    const { clock, onChangeTold } = this.#components
    const minuteAgo = clock.monotonic() - 60_000
    this.#toldAt = this.#toldAt.filter((at) => at > minuteAgo)
    const waitMs = this.#toldAt.length < QUICK_TELLS ? TELL_AFTER_MS : SLOW_TELL_MS
    this.#cancel ??= clock.after(waitMs, () => {
      this.#cancel = undefined
      this.tell()
      onChangeTold()
    })
  }

  stop(): void {
    this.#cancel?.()
  }
}
