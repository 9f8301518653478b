/**
 * Has datagrams that are no WireGuard looked at in turns of the event loop: of probes that waited together, a thousand took a
 * fifth of a second with their answers.
 */
import { type Clock, LoopTurns } from '@mesh/core'
import type { Datagram } from '@mesh/engine'
import { PROBES_TURN_MS } from './limits.ts'

interface DatagramTurnsInit {
  /** Gives those that wait. */
  readonly take: () => readonly Datagram[]
  /** Looks at one. Must not throw. */
  readonly receive: (datagram: Datagram) => void
  readonly clock: Clock
}

export class DatagramTurns {
  readonly #init: DatagramTurnsInit
  readonly #turns: LoopTurns
  #isTaking = false
  #end = () => {}

  constructor(init: DatagramTurnsInit) {
    this.#init = init
    this.#turns = new LoopTurns(PROBES_TURN_MS, init.clock)
  }

  /** Some wait: they are looked at now, or after those that came before. */
  look(): void {
    if (this.#isTaking) return
    this.#isTaking = true
    const end = this.#turns.walk(this.#steps(), () => {
      this.#isTaking = false
    })
    if (this.#isTaking) this.#end = end
  }

  stop(): void {
    this.#end()
  }

  *#steps(): Generator<void, void> {
    for (let taken = this.#init.take(); taken.length > 0; taken = this.#init.take()) {
      for (const datagram of taken) {
        this.#init.receive(datagram)
        yield
      }
    }
  }
}
