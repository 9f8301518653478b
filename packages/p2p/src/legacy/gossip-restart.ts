/**
 * Legacy nodes rebuild their gossip at each rotation of the keys, and leave our stream with nobody who reads it
 * (docs/WIRE.md 3.3). The new stream that such a node opens to us is the sign that ours must be opened anew, too.
 */
import type { Connection } from '@libp2p/interface'
import { STREAM_END_GRACE_MS } from './limits.ts'

interface LegacyGossipRestartsInit {
  readonly timers: { later(delayMs: number, run: () => void): void }
  /** Resets our stream to the peer of the connection and opens a new one. */
  readonly replaceOutbound: (connection: Connection) => void
}

/** The stream that a peer had opened before it opened another one. */
interface PreviousStream {
  readonly connection: Connection
  readonly end: 'closed' | 'reset' | undefined
  onEnd: () => void
}

export class LegacyGossipRestarts {
  readonly #init: LegacyGossipRestartsInit

  constructor(init: LegacyGossipRestartsInit) {
    this.#init = init
  }

  /** Answers a second inbound stream, once it is known how the one before it ended. */
  answer(previous: PreviousStream): void {
    let isAnswered = false
    const answer = () => {
      if (isAnswered) return
      isAnswered = true
      // a reset is how we and others replace a stream: answering it with another one would never end
      if (previous.end !== 'reset') this.#init.replaceOutbound(previous.connection)
    }
    if (previous.end !== undefined) return answer()
    previous.onEnd = answer
    this.#init.timers.later(STREAM_END_GRACE_MS, answer)
  }
}
