/**
 * How many probes go out. Whoever may name addresses can name those of strangers: so probes to addresses that never answered
 * are bounded by the peer that named them, by the address that it speaks from, by address and in all, and those to addresses
 * that did have a share of their own. Answers to probes are, too, as where these come from may be forged.
 */
import { type Clock, createRateLimiter, type IpAddress } from '@mesh/core'
import { createTokenBucket, type TokenBucket } from '@mesh/core/limits'
import {
  ANSWERS_OF_PEER,
  MAX_PROBED_ADDRESSES,
  PROBES_OF_PEER,
  PROBES_PER_SECOND,
  UNPROVEN_ANSWERS,
  UNPROVEN_PROBES,
  UNPROVEN_PROBES_OF_PEER,
} from './limits.ts'
import type { PathEffect } from './path-state.ts'

/** The probes that one peer may have. It outlives the peer's state, which a message of the peer's can begin anew. */
export interface PeerProbes {
  readonly proven: TokenBucket
  readonly unproven: TokenBucket
  /** How many of its own probes are answered: to addresses that answered, and to others, which may be anybody's. */
  readonly answers: { readonly proven: TokenBucket; readonly unproven: TokenBucket }
}

/** A probe that is to go out, or the answer to one. */
type Outgoing = Exclude<PathEffect, { readonly type: 'use' }>

export class ProbeBudget {
  readonly #clock: Clock
  readonly #proven: TokenBucket
  readonly #unproven: UnprovenBudget
  readonly #answers: UnprovenBudget

  constructor(clock: Clock) {
    this.#clock = clock
    this.#proven = createTokenBucket({ perSecond: PROBES_PER_SECOND, burst: PROBES_PER_SECOND }, clock)
    this.#unproven = createUnprovenBudget(UNPROVEN_PROBES, clock)
    this.#answers = createUnprovenBudget(UNPROVEN_ANSWERS, clock)
  }

  /** Gives the share of a peer that is new. */
  ofPeer(): PeerProbes {
    return {
      proven: createTokenBucket(PROBES_OF_PEER, this.#clock),
      unproven: createTokenBucket(UNPROVEN_PROBES_OF_PEER, this.#clock),
      answers: {
        proven: createTokenBucket(ANSWERS_OF_PEER, this.#clock),
        unproven: createTokenBucket(ANSWERS_OF_PEER, this.#clock),
      },
    }
  }

  /** Takes one; false when none is left. @param from the address group that the peer speaks from, where it has one */
  take(peer: PeerProbes, { type, to, isProven }: Outgoing, from = ''): boolean {
    if (type === 'pong') {
      if (isProven) return peer.answers.proven.take()
      return peer.answers.unproven.take() && takeFrom(this.#answers, to.address, from)
    }
    if (isProven) return peer.proven.take() && this.#proven.take()
    return peer.unproven.take() && takeFrom(this.#unproven, to.address, from)
  }
}

/** The bounds of probes to addresses that never answered: they may be those of strangers. */
interface UnprovenBudget {
  readonly toAddress: RateLimiter
  readonly ofAddress: RateLimiter
  readonly inAll: TokenBucket
}

type Rate = Parameters<typeof createTokenBucket>[0]
type RateLimiter = ReturnType<typeof createRateLimiter>

interface UnprovenRates {
  readonly toAddress: Rate
  readonly ofAddress: Rate
  readonly inAll: Rate
}

function createUnprovenBudget({ toAddress, ofAddress, inAll }: UnprovenRates, clock: Clock): UnprovenBudget {
  const maxAddresses = MAX_PROBED_ADDRESSES
  return {
    toAddress: createRateLimiter({ ...toAddress, maxAddresses }, clock),
    ofAddress: createRateLimiter({ ...ofAddress, maxAddresses }, clock),
    inAll: createTokenBucket(inAll, clock),
  }
}

function takeFrom({ toAddress, ofAddress, inAll }: UnprovenBudget, to: IpAddress, from: string): boolean {
  return toAddress.take(to) && ofAddress.take(from) && inAll.take()
}
