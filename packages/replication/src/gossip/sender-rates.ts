/** How much the peers that are charged for messages may ask of this node: bytes to inflate, and small messages. */
import { BoundedMap, type Clock } from '@mesh/core'
import {
  INFLATED_BURST_BYTES,
  INFLATED_BYTES_PER_S,
  MAX_MEMBERS_REMEMBERED,
  SMALL_BLOCK_BYTES,
  SMALL_BLOCKS_BURST,
  SMALL_BLOCKS_PER_S,
} from '../limits.ts'

interface Rate {
  readonly perSecond: number
  readonly burst: number
}

const LARGE: Rate = { perSecond: INFLATED_BYTES_PER_S, burst: INFLATED_BURST_BYTES }
const SMALL: Rate = { perSecond: SMALL_BLOCKS_PER_S, burst: SMALL_BLOCKS_BURST }

/** The allowance that is left to one peer. */
interface Left {
  large: number
  small: number
  atMs: number
}

export class SenderRates {
  readonly #clock: Clock
  readonly #byPeer = new BoundedMap<string, Left>(MAX_MEMBERS_REMEMBERED)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  /** Charges a peer for one message; false when it asked for too much already. */
  take(peer: string, inflatedBytes: number): boolean {
    const left = this.#refilled(peer)
    if (inflatedBytes <= SMALL_BLOCK_BYTES) {
      if (left.small < 1) return false
      left.small--
      return true
    }
    if (left.large < inflatedBytes) return false
    left.large -= inflatedBytes
    return true
  }

  #refilled(peer: string): Left {
    const now = this.#clock.monotonic()
    const left = this.#byPeer.get(peer) ?? { large: LARGE.burst, small: SMALL.burst, atMs: now }
    const seconds = (now - left.atMs) / 1000
    left.large = Math.min(LARGE.burst, left.large + seconds * LARGE.perSecond)
    left.small = Math.min(SMALL.burst, left.small + seconds * SMALL.perSecond)
    left.atMs = now
    this.#byPeer.set(peer, left)
    return left
  }
}
