/** One connection and what is known of it: whether its other end proved itself, and who waits to learn it. */
import type { Connection } from '@libp2p/interface'
import { type PeerId, tryParsePeerId } from '@mesh/core'
import type { Outcome } from './prove.ts'

/** The state of one connection's proof: `refused` is final, since the other side showed another key. */
export type ConnectionStanding = 'unproven' | 'proven' | 'refused'

export class WatchedConnection {
  readonly connection: Connection
  /** The other end; undefined for ids that are no Ed25519 key: those can never be members. */
  readonly peer: PeerId | undefined
  standing: ConnectionStanding = 'unproven'
  /** How many handshakes this end began on the connection. */
  begun = 0
  /** How many handshakes of the other end were answered. */
  answered = 0
  /** The handshake that this end has begun and not ended. */
  running: Promise<Outcome> | undefined
  cancelRetry = (): void => {}
  readonly #waiting = new Set<() => void>()

  constructor(connection: Connection) {
    this.connection = connection
    this.peer = tryParsePeerId(connection.remotePeer.toString())
  }

  /** Wakes all who wait in `whenDecided`, which then look again. */
  wake(): void {
    for (const wake of this.#waiting) wake()
  }

  /** Resolves true when the connection is proven; false when it is refused or closed, or the signal aborted. */
  whenDecided(signal: AbortSignal): Promise<boolean> {
    return new Promise((resolve) => {
      const check = () => {
        const isOpen = this.connection.status === 'open' && !signal.aborted
        if (this.standing === 'unproven' && isOpen) return
        this.#waiting.delete(check)
        signal.removeEventListener('abort', check)
        resolve(this.standing === 'proven')
      }
      this.#waiting.add(check)
      signal.addEventListener('abort', check)
      check()
    })
  }
}
