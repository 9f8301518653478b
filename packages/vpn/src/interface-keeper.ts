/**
 * Restores what other programs remove from the interface.
 *
 * 1. The kernel reports a change.
 * 2. When changes have settled, the engine checks and restores.
 * 3. What the kernel refused is tried again.
 * 4. A program that keeps removing things is answered once a minute.
 */
import { type Clock, type Logger, toError } from '@mesh/core'
import type { Restored } from '@mesh/engine'
import { MAX_RESTORES, RESTORE_AFTER_MS, RESTORE_AGAIN_MS, RESTORE_WINDOW_MS } from './limits.ts'
import type { VpnProblem } from './vpn.ts'
import { interfaceContested, interfaceNotRestored } from './vpn-problems.ts'

interface InterfaceKeeperInit {
  /** The interface's name, for people. */
  readonly name: string
  /** Looks at the interface, and puts back what is missing. */
  readonly restore: () => Restored
  /** Called when `problem` has changed. */
  readonly onProblem: () => void
}

export class InterfaceKeeper {
  /** Why the interface is not as it has to be; undefined while it is. */
  problem: VpnProblem | undefined
  readonly #init: InterfaceKeeperInit
  readonly #components: { readonly clock: Clock; readonly log: Logger }
  /** When something was put back in the last minute, in monotonic ms. */
  #restoredAt: readonly number[] = []
  #isContested = false
  /** When the next look is due, in monotonic ms. */
  #lookAt = Number.POSITIVE_INFINITY
  #cancelLook = () => {}

  constructor(init: InterfaceKeeperInit, components: { readonly clock: Clock; readonly log: Logger }) {
    this.#init = init
    this.#components = components
  }

  /** The interface was changed, by this node or others: looks soon, unless another program is left alone. */
  changed(): void {
    const dueInMs = this.#lookAt - this.#components.clock.monotonic()
    if (!this.#isContested && dueInMs > RESTORE_AFTER_MS) this.#lookIn(RESTORE_AFTER_MS)
  }

  stop(): void {
    this.#cancelLook()
  }

  #lookIn(ms: number): void {
    const { clock } = this.#components
    this.#cancelLook()
    this.#lookAt = clock.monotonic() + ms
    this.#cancelLook = clock.after(ms, () => this.#look())
  }

  #look(): void {
    this.#lookAt = Number.POSITIVE_INFINITY
    const { name } = this.#init
    const { clock, log } = this.#components
    const { restored, failed } = this.#restore()
    const now = clock.monotonic()
    this.#restoredAt = this.#restoredAt.filter((at) => now - at < RESTORE_WINDOW_MS)
    if (restored.length > 0) {
      log.warn('interface put right: another program had changed it', { interface: name, restored })
      this.#restoredAt = [...this.#restoredAt, now]
    }
    this.#isContested = restored.length > 0 && (this.#isContested || this.#restoredAt.length >= MAX_RESTORES)
    if (this.#isContested) this.#tell(interfaceContested(name, restored))
    else this.#tell(failed.length === 0 ? undefined : interfaceNotRestored(name, failed))
    if (this.#isContested) this.#lookIn(RESTORE_WINDOW_MS)
    else if (failed.length > 0) this.#lookIn(RESTORE_AGAIN_MS)
  }

  #restore(): Restored {
    try {
      return this.#init.restore()
    } catch (error) {
      return { restored: [], failed: [toError(error).message] }
    }
  }

  #tell(problem: VpnProblem | undefined): void {
    if (problem?.title === this.problem?.title) return
    this.problem = problem && { ...problem, since: this.#components.clock.now() }
    this.#init.onProblem()
  }
}
