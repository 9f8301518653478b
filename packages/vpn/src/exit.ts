/**
 * The exit of this node: which member it is, remembered over restarts, and what of it people are told. It is looked for
 * until it was reached once, or for `EXIT_SEARCH_MS`: only then is it gone. Where several may be the exit, the table chooses
 * another one when the one in use is lost; meanwhile packets are dropped, as without an exit.
 */
import { type Clock, type PeerId, tryParsePeerId } from '@mesh/core'
import type { LeaseStore, VpnExitStatus } from './vpn.ts'
import { EXIT_SEARCH_MS } from './limits.ts'
import type { VpnNetwork } from './ports.ts'
import type { ExitChoice, ExitWish } from './table/choose-exit.ts'
import type { Tunnels } from './tunnels/tunnels.ts'

interface OwnExitComponents {
  readonly store: LeaseStore
  readonly network: Pick<VpnNetwork, 'onPath'>
  readonly clock: Clock
  /** Undefined: there is no interface. */
  readonly tunnels: () => Pick<Tunnels, 'status'> | undefined
  /** Called when the state of the exit is another than before. */
  readonly onChange: () => void
}

const NOBODY = { hostname: '', families: [], faults: [], standby: [] } as const

export class OwnExit {
  readonly #components: OwnExitComponents
  #wanted: string | undefined
  /** The peers that names and addresses stood for, so that nobody else can take them over. */
  #pinned: readonly (PeerId | undefined)[] = []
  /** It was reached since it was chosen. */
  #wasUp = false
  /** It was looked for long enough. */
  #isOverdue = false
  /** Who it is, by the table; undefined: none was built since it was chosen. */
  #choice: ExitChoice | undefined
  #told: VpnExitStatus['state'] | undefined
  #life: 'starting' | 'running' | 'ended' = 'starting'
  #cancelSearch = () => {}

  /** @param wanted the name, address or id by which the person named it; undefined: none is wanted */
  constructor(wanted: string | undefined, components: OwnExitComponents) {
    this.#components = components
    this.#wanted = wanted
    const [kept, ...peers] = components.store.read()?.split('\n') ?? []
    if (wanted !== undefined && kept === wanted) this.#pinned = peers.map((peer) => tryParsePeerId(peer))
  }

  wish(): ExitWish | undefined {
    if (this.#wanted === undefined) return undefined
    const current = this.#choice?.state === 'chosen' ? this.#choice.offer.peer : undefined
    return { wanted: this.#wanted, pinned: this.#pinned, current }
  }

  /** The VPN runs: from here on it can be found. The returned function ends that, and nothing is told any more. */
  begin(): () => void {
    this.#life = 'running'
    const unwatch = this.#components.network.onPath(() => this.follow())
    this.#search()
    return () => {
      this.#life = 'ended'
      this.#cancelSearch()
      unwatch()
    }
  }

  /** Another exit, or none, is wanted from now on; the next table says who that is. */
  change(wanted: string | undefined): void {
    if (wanted === this.#wanted) return
    this.#wanted = wanted
    this.#pinned = []
    this.#choice = undefined
    this.#search()
  }

  /** Takes the table's word for who it is. */
  learn(choice: ExitChoice | undefined): void {
    this.#choice = choice
    if (choice?.state === 'chosen' && choice.pinned.some((peer, at) => peer !== this.#pinned[at])) {
      this.#pinned = choice.pinned
      this.#components.store.write([this.#wanted, ...this.#pinned, ''].join('\n'))
    }
    this.follow()
  }

  /** Must be called when a tunnel or a connection is another than before. */
  follow(): void {
    if (this.#life === 'ended') return
    const state = this.status()?.state
    if (state === 'up') this.#wasUp = true
    if (state === this.#told) return
    this.#told = state
    this.#components.onChange()
  }

  /** How the exit is; undefined where none is wanted. */
  status(): VpnExitStatus | undefined {
    if (this.#wanted === undefined) return undefined
    const [wanted, choice, tunnels] = [this.#wanted, this.#choice, this.#components.tunnels()]
    const isSought = !this.#wasUp && !this.#isOverdue && choice?.state !== 'ambiguous'
    const away = isSought ? 'searching' : 'gone'
    if (choice?.state !== 'chosen' || tunnels === undefined)
      return { ...NOBODY, wanted, peer: this.#pinned[0], state: away }
    const { peer, hostname, families, faults } = choice.offer
    const { standby } = choice
    const { kind, udp, path } = tunnels.status(peer)
    const isUp = kind === 'wireguard' && (udp.state !== 'none' || path !== undefined)
    return { wanted, peer, hostname, state: isUp ? 'up' : away, families, faults, standby }
  }

  #search(): void {
    this.#cancelSearch()
    this.#wasUp = this.#isOverdue = false
    if (this.#wanted === undefined || this.#life !== 'running') return this.follow()
    this.#cancelSearch = this.#components.clock.after(EXIT_SEARCH_MS, () => {
      this.#isOverdue = true
      this.follow()
    })
    this.follow()
  }
}
