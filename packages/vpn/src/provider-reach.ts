/**
 * How routers and exits are reached, where several do the same: one that is lost gives way to another.
 *
 * 1. A router whose connection closed is probed over UDP at once: where it is gone, that shows in half a second.
 * 2. A router is lost when it has no connection, and no path over UDP that answers.
 * 3. Those that stand by are kept connected, so that they can take over and their round trips are known.
 *
 * Nobody else is probed: packets to the router in use have its path probed anyway.
 */
import type { Clock, PeerId, Random } from '@mesh/core'
import { type Backoff, createBackoff } from '@mesh/core/limits'
import { MAX_STANDBY, STANDBY_RETRY, STEADY_MS } from './limits.ts'
import type { VpnNetwork } from './ports.ts'
import type { PeerReach } from './table/peer-reach.ts'
import type { Tunnels } from './tunnels/tunnels.ts'

interface ProviderReachComponents {
  readonly network: Pick<VpnNetwork, 'pathOf' | 'connect' | 'onPath'>
  /** Undefined: there is no interface. */
  readonly tunnels: () => Pick<Tunnels, 'status' | 'ask'> | undefined
  readonly clock: Clock
  readonly random: Random
  /** Called when one of those that are followed is reached another way than before: the table may be another. */
  readonly onChange: () => void
}

interface Followed {
  isUp: boolean
  /** When it came back after it was lost, in monotonic ms; undefined: it never was. */
  backAt: number | undefined
  cancelSteady: () => void
  readonly backoff: Backoff
  isDialling: boolean
  cancelDial: () => void
}

export class ProviderReach {
  readonly #components: ProviderReachComponents
  readonly #followed = new Map<PeerId, Followed>()
  readonly #stopping = new AbortController()
  readonly #unwatch: () => void

  constructor(components: ProviderReachComponents) {
    this.#components = components
    this.#unwatch = components.network.onPath((peer) => this.changed(peer))
  }

  reachOf(peer: PeerId): PeerReach {
    const { network, tunnels, clock } = this.#components
    const backAt = this.#followed.get(peer)?.backAt
    return {
      isUp: this.#isUp(peer),
      isSteady: backAt === undefined || clock.monotonic() - backAt >= STEADY_MS,
      rttMs: tunnels()?.status(peer).udp.rttMs ?? network.pathOf(peer)?.rttMs,
    }
  }

  /** Follows these from now on, and no others: the table has several of them for one thing. */
  follow(peers: Iterable<PeerId>): void {
    const wanted = new Set([...peers].slice(0, MAX_STANDBY))
    for (const [peer, followed] of this.#followed) if (!wanted.has(peer)) this.#forget(peer, followed)
    for (const peer of wanted) {
      if (!this.#followed.has(peer)) this.#followed.set(peer, this.#create(peer))
      this.#connect(peer)
    }
  }

  /** Must be called when a path or tunnel to the peer is another one. */
  changed(peer: PeerId): void {
    const followed = this.#followed.get(peer)
    if (followed === undefined) return
    const { network, tunnels, clock, onChange } = this.#components
    const isLost = network.pathOf(peer) === undefined
    if (isLost && tunnels()?.status(peer).udp.state === 'direct') tunnels()?.ask(peer)
    this.#connect(peer)
    const isUp = this.#isUp(peer)
    if (isUp === followed.isUp) return
    followed.isUp = isUp
    followed.cancelSteady()
    if (isUp) {
      followed.backAt = clock.monotonic()
      followed.cancelSteady = clock.after(STEADY_MS, onChange)
    }
    onChange()
  }

  stop(): void {
    this.#stopping.abort(new Error('the VPN stops'))
    this.#unwatch()
    for (const [peer, followed] of this.#followed) this.#forget(peer, followed)
  }

  #isUp(peer: PeerId): boolean {
    const { network, tunnels } = this.#components
    return network.pathOf(peer) !== undefined || tunnels()?.status(peer).udp.state === 'direct'
  }

  #create(peer: PeerId): Followed {
    return {
      isUp: this.#isUp(peer),
      backAt: undefined,
      cancelSteady: () => {},
      backoff: createBackoff(STANDBY_RETRY, this.#components),
      isDialling: false,
      cancelDial: () => {},
    }
  }

  #forget(peer: PeerId, { cancelSteady, cancelDial }: Followed): void {
    cancelSteady()
    cancelDial()
    this.#followed.delete(peer)
  }

  #connect(peer: PeerId): void {
    const { network, clock } = this.#components
    const followed = this.#followed.get(peer)
    if (followed === undefined || followed.isDialling || this.#stopping.signal.aborted) return
    followed.cancelDial()
    if (network.pathOf(peer) !== undefined) return followed.backoff.succeeded()
    followed.cancelDial = clock.after(followed.backoff.remainingMs(), () => void this.#dial(peer, followed))
  }

  async #dial(peer: PeerId, followed: Followed): Promise<void> {
    followed.isDialling = true
    try {
      await this.#components.network.connect(peer, this.#stopping.signal)
    } catch {
      // told by the tunnel where packets are for it
    }
    followed.isDialling = false
    if (this.#components.network.pathOf(peer) === undefined) followed.backoff.failed()
    if (this.#followed.get(peer) === followed) this.#connect(peer)
  }
}
