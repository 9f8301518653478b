/** The switchable gate: while it is on, only peers in the bucket `trustzone` may use the network with this node. */
import type { PeerId } from '@mesh/core'
import { readTrustList } from './trust-list.ts'
import type { TrustLedger } from '../ports.ts'

export interface PeerGateInit {
  /** True when the gate is on from the start. */
  readonly enabled: boolean
  /** True when everybody may pass while the list is empty. */
  readonly relaxed: boolean
  /** True when only entries count that go back to this node. */
  readonly strict: boolean
}

export class PeerGate {
  enabled: boolean
  readonly #init: PeerGateInit
  readonly #self: PeerId
  #list: ReadonlySet<string> = new Set()

  constructor(init: PeerGateInit, self: PeerId) {
    this.#init = init
    this.#self = self
    this.enabled = init.enabled
  }

  /** Reads the list anew. */
  read(ledger: Pick<TrustLedger, 'snapshot'>): void {
    this.#list = readTrustList(ledger.snapshot(), { self: this.#self, strict: this.#init.strict })
  }

  /** True when nobody but this node may pass. */
  get isShut(): boolean {
    return this.enabled && !this.#init.relaxed && this.#list.size === 0
  }

  isListed(peer: string): boolean {
    return this.#list.has(peer)
  }

  mayPass(peer: string): boolean {
    if (!this.enabled || this.#list.has(peer)) return true
    return this.#init.relaxed && this.#list.size === 0
  }
}
