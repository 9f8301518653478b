/** Keeps what was learnt of peers, bounded in number. */
import type { Clock } from '@mesh/core'

export interface KnownPeer {
  /** The addresses that the peer itself named, by identify. */
  addresses: readonly string[]
  /** True for one that was connected from this machine, and so may be at an address of loopback. */
  isSameHost: boolean
  /** The addresses that those who found it named. */
  told: readonly string[]
  protocols: readonly string[]
  agent: string | undefined
  name: string | undefined
  rttMs: number | undefined
  /** The last time that it was seen alive, in unix ms. */
  lastSeen: number | undefined
  lastError: string | undefined
  /** When it was first heard of, in unix ms, for peers that were never seen alive. */
  readonly since: number
}

interface KnownPeersInit {
  readonly clock: Clock
  readonly limit: number
  readonly isMember: (peer: string) => boolean
  readonly connected: () => ReadonlySet<string>
  /** Called with a peer that made room for another one. */
  readonly onForgotten: (peer: string) => void
}

/** Forgets the unconnected peer that was silent longest beyond the limit, strangers before members. */
export class KnownPeers {
  readonly #init: KnownPeersInit
  readonly #byId = new Map<string, KnownPeer>()

  constructor(init: KnownPeersInit) {
    this.#init = init
  }

  /** Gives what is known of a peer, which is made known if it is not. */
  entry(peer: string): KnownPeer {
    const found = this.#byId.get(peer)
    if (found !== undefined) return found
    const made: KnownPeer = {
      addresses: [],
      isSameHost: false,
      told: [],
      protocols: [],
      agent: undefined,
      name: undefined,
      rttMs: undefined,
      lastSeen: undefined,
      lastError: undefined,
      since: this.#init.clock.now(),
    }
    this.#byId.set(peer, made)
    if (this.#byId.size > this.#init.limit) this.#forgetOne()
    return made
  }

  get(peer: string): KnownPeer | undefined {
    return this.#byId.get(peer)
  }

  all(): Iterable<[string, KnownPeer]> {
    return this.#byId
  }

  forget(peer: string): boolean {
    return this.#byId.delete(peer)
  }

  #forgetOne(): void {
    const { isMember, connected, onForgotten } = this.#init
    const open = connected()
    let worst: string | undefined
    let worstRank = Number.POSITIVE_INFINITY
    for (const [peer, { lastSeen, since }] of this.#byId) {
      if (open.has(peer)) continue
      const rank = (isMember(peer) ? 1e15 : 0) + (lastSeen ?? since)
      if (rank < worstRank) [worst, worstRank] = [peer, rank]
    }
    if (worst === undefined) return
    this.#byId.delete(worst)
    onForgotten(worst)
  }
}
