/**
 * Who is a member: who proved itself on an open connection, and who did or was heard lately, as far as it may use the
 * network.
 */
import type { Clock, PeerId } from '@mesh/core'
import { createHeardMembers, type HeardMembers } from './heard-members.ts'

interface ProvenPeersInit {
  readonly clock: Clock
  readonly mayUse: (peer: string) => boolean
  /** Tells whether a connected peer can prove itself, so that nothing less counts. */
  readonly mayOnlyProve: (peer: string) => boolean
}

/** Who is proven, and who comes and goes. */
export interface ProvenView {
  isProven(peer: string): boolean
  members(): readonly PeerId[]
  onChange(listener: (peer: PeerId, proven: boolean) => void): () => void
}

export class ProvenPeers {
  /** Peers that proved themselves lately. */
  readonly #proven: HeardMembers
  /** Peers that were heard lately. */
  readonly #heard: HeardMembers
  readonly #mayOnlyProve: (peer: string) => boolean
  /** The number of open proven connections, by peer. */
  readonly #counts = new Map<PeerId, number>()
  readonly #changeListeners = new Set<(peer: PeerId, proven: boolean) => void>()
  readonly #memberListeners = new Set<(peer: PeerId) => void>()
  readonly #mayUse: (peer: string) => boolean
  readonly #proofListeners = new Set<(peer: PeerId, proven: boolean) => void>()
  /** The peers that were told to be proven. */
  readonly #told = new Set<PeerId>()

  constructor({ clock, mayUse, mayOnlyProve }: ProvenPeersInit) {
    this.#proven = createHeardMembers(clock)
    this.#heard = createHeardMembers(clock)
    this.#mayUse = mayUse
    this.#mayOnlyProve = mayOnlyProve
  }

  isProven(peer: string): boolean {
    return this.#counts.has(peer as PeerId) && this.#mayUse(peer)
  }

  isMember(peer: string): boolean {
    if (!this.#mayUse(peer)) return false
    if (this.#counts.has(peer as PeerId) || this.#proven.has(peer)) return true
    return this.#heard.has(peer) && !this.#mayOnlyProve(peer)
  }

  list(): readonly PeerId[] {
    return [...this.#counts.keys()].filter(this.#mayUse)
  }

  /** Who may use the network has changed: tells the proven peers that came and went by that. */
  admissionChanged(): void {
    for (const peer of new Set([...this.#told, ...this.#counts.keys()])) {
      const comes = this.isProven(peer) && !this.#told.has(peer)
      this.#tell(peer)
      if (comes) this.#tellMember(peer)
    }
  }

  /** The peer authored what only a member can; tells whoever asked, if it was no member before. */
  noteHeard(peer: PeerId): void {
    this.#note(peer, this.#heard)
  }

  #note(peer: PeerId, members: HeardMembers): void {
    const wasMember = this.isMember(peer)
    members.note(peer)
    if (!wasMember && this.isMember(peer)) this.#tellMember(peer)
  }

  /** A proven connection of the peer opened (1) or closed (-1). */
  count(peer: PeerId, change: 1 | -1): void {
    this.#note(peer, this.#proven)
    const before = this.#counts.get(peer) ?? 0
    const now = before + change
    if (now === 0) this.#counts.delete(peer)
    else this.#counts.set(peer, now)
    if (before === 0 || now === 0) for (const listener of this.#proofListeners) listener(peer, now !== 0)
    this.#tell(peer)
  }

  /** The same, whether they may use the network or not. */
  readonly ungated: ProvenView = {
    isProven: (peer) => this.#counts.has(peer as PeerId),
    members: () => [...this.#counts.keys()],
    onChange: (listener) => {
      this.#proofListeners.add(listener)
      return () => this.#proofListeners.delete(listener)
    },
  }

  onChange(listener: (peer: PeerId, proven: boolean) => void): () => void {
    this.#changeListeners.add(listener)
    return () => this.#changeListeners.delete(listener)
  }

  onMember(listener: (peer: PeerId) => void): () => void {
    this.#memberListeners.add(listener)
    return () => this.#memberListeners.delete(listener)
  }

  #tell(peer: PeerId): void {
    const proven = this.isProven(peer)
    if (proven === this.#told.has(peer)) return
    if (proven) this.#told.add(peer)
    else this.#told.delete(peer)
    for (const listener of this.#changeListeners) listener(peer, proven)
  }

  #tellMember(peer: PeerId): void {
    for (const listener of this.#memberListeners) listener(peer)
  }

  clear(): void {
    this.#counts.clear()
    this.#told.clear()
    this.#changeListeners.clear()
    this.#proofListeners.clear()
    this.#memberListeners.clear()
  }
}
