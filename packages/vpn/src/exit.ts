/** The exit of this node: which member it is, remembered over restarts, and what of it people are told. */
import { type PeerId, tryParsePeerId } from '@mesh/core'
import type { LeaseStore } from './addresses/lease-store.ts'
import type { ExitChoice, ExitWish } from './table/choose-exit.ts'
import type { Tunnels } from './tunnels/tunnels.ts'
import type { VpnExitStatus } from './vpn.ts'

/** Remembers the peer that a name or address stood for, so that nobody else can take it over. */
export class ExitPin {
  #wanted: string | undefined
  readonly #store: LeaseStore
  #peer: PeerId | undefined

  constructor(wanted: string | undefined, store: LeaseStore) {
    this.#wanted = wanted
    this.#store = store
    const [kept, peer] = store.read()?.split('\n') ?? []
    if (wanted !== undefined && kept === wanted) this.#peer = tryParsePeerId(peer ?? '')
  }

  wish(): ExitWish | undefined {
    return this.#wanted === undefined ? undefined : { wanted: this.#wanted, pinned: this.#peer }
  }

  /** Another exit, or none, is wanted from now on. */
  change(wanted: string | undefined): void {
    if (wanted === this.#wanted) return
    this.#wanted = wanted
    this.#peer = undefined
  }

  learn(choice: ExitChoice | undefined): void {
    if (choice?.state !== 'chosen' || this.#peer === choice.offer.peer) return
    this.#peer = choice.offer.peer
    this.#store.write(`${this.#wanted}\n${this.#peer}\n`)
  }
}

/** How the exit is; undefined where none was asked for. */
export function exitStatus(
  wish: ExitWish | undefined,
  choice: ExitChoice | undefined,
  tunnels: Pick<Tunnels, 'status'> | undefined,
): VpnExitStatus | undefined {
  if (wish === undefined) return undefined
  const { wanted, pinned } = wish
  if (choice?.state !== 'chosen' || tunnels === undefined) {
    return {
      wanted,
      peer: pinned,
      hostname: '',
      state: pinned === undefined ? 'searching' : 'gone',
      families: [],
    }
  }
  const { peer, hostname, families } = choice.offer
  const { kind, udp, path } = tunnels.status(peer)
  const isUp = kind === 'wireguard' && (udp.state !== 'none' || path !== undefined)
  return { wanted, peer, hostname, state: isUp ? 'up' : 'gone', families }
}
