/**
 * How many probes go out. Whoever may name addresses can name those of strangers: so probes to addresses that never answered
 * are bounded by the peer that named them, by the address that it speaks from, by address and in all, and those to addresses that did have a share of their own.
 */
import {
  type Clock,
  createRateLimiter,
  createTokenBucket,
  type IpAddress,
  type TokenBucket,
} from '@mesh/core'
import {
  MAX_PROBED_ADDRESSES,
  PROBES_OF_PEER,
  PROBES_PER_SECOND,
  UNPROVEN_PROBES_IN_ALL,
  UNPROVEN_PROBES_OF_ADDRESS,
  UNPROVEN_PROBES_OF_PEER,
  UNPROVEN_PROBES_TO_ADDRESS,
} from './limits.ts'

/** The probes that one peer may have. It outlives the peer's state, which a message of the peer's can begin anew. */
export interface PeerProbes {
  readonly proven: TokenBucket
  readonly unproven: TokenBucket
}

/** A probe that is to go out. */
export interface WantedProbe {
  readonly to: IpAddress
  /** The address group that the peer speaks from; undefined: it has none. */
  readonly from: string | undefined
  /** The address has answered before. */
  readonly isProven: boolean
}

export class ProbeBudget {
  readonly #clock: Clock
  readonly #proven: TokenBucket
  readonly #unproven: TokenBucket
  readonly #toAddress: ReturnType<typeof createRateLimiter>
  readonly #ofAddress: ReturnType<typeof createRateLimiter>

  constructor(clock: Clock) {
    this.#clock = clock
    this.#proven = createTokenBucket({ perSecond: PROBES_PER_SECOND, burst: PROBES_PER_SECOND }, clock)
    this.#unproven = createTokenBucket(UNPROVEN_PROBES_IN_ALL, clock)
    const maxAddresses = MAX_PROBED_ADDRESSES
    this.#toAddress = createRateLimiter({ ...UNPROVEN_PROBES_TO_ADDRESS, maxAddresses }, clock)
    this.#ofAddress = createRateLimiter({ ...UNPROVEN_PROBES_OF_ADDRESS, maxAddresses }, clock)
  }

  /** Gives the share of a peer that is new. */
  ofPeer(): PeerProbes {
    return {
      proven: createTokenBucket(PROBES_OF_PEER, this.#clock),
      unproven: createTokenBucket(UNPROVEN_PROBES_OF_PEER, this.#clock),
    }
  }

  /** Takes one; false when none is left. */
  take(peer: PeerProbes, { to, from = '', isProven }: WantedProbe): boolean {
    if (isProven) return peer.proven.take() && this.#proven.take()
    const isOfShare = peer.unproven.take() && this.#toAddress.take(to) && this.#ofAddress.take(from)
    return isOfShare && this.#unproven.take()
  }
}
