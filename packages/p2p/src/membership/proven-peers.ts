/** Who is a member: who proved itself on an open connection, and who did or was heard lately. */
import type { Clock, PeerId } from '@mesh/core'
import { createHeardMembers, type HeardMembers } from './heard-members.ts'

interface ProvenPeersInit {
  readonly clock: Clock
  /** Tells whether a connected peer can prove itself, so that nothing less counts. */
  readonly mayOnlyProve: (peer: string) => boolean
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

  constructor({ clock, mayOnlyProve }: ProvenPeersInit) {
    this.#proven = createHeardMembers(clock)
    this.#heard = createHeardMembers(clock)
    this.#mayOnlyProve = mayOnlyProve
  }

  isProven(peer: string): boolean {
    return this.#counts.has(peer as PeerId)
  }

  isMember(peer: string): boolean {
    if (this.isProven(peer) || this.#proven.has(peer)) return true
    return this.#heard.has(peer) && !this.#mayOnlyProve(peer)
  }

  list(): readonly PeerId[] {
    return [...this.#counts.keys()]
  }

  /** The peer authored what only a member can; tells whoever asked, if it was no member before. */
  noteHeard(peer: PeerId): void {
    this.#note(peer, this.#heard)
  }

  #note(peer: PeerId, members: HeardMembers): void {
    const wasMember = this.isMember(peer)
    members.note(peer)
    if (wasMember || !this.isMember(peer)) return
    for (const listener of this.#memberListeners) listener(peer)
  }

  /** A proven connection of the peer opened (1) or closed (-1). */
  count(peer: PeerId, change: 1 | -1): void {
    this.#note(peer, this.#proven)
    const before = this.#counts.get(peer) ?? 0
    const now = before + change
    if (now === 0) this.#counts.delete(peer)
    else this.#counts.set(peer, now)
    if (before !== 0 && now !== 0) return
    for (const listener of this.#changeListeners) listener(peer, now !== 0)
  }

  onChange(listener: (peer: PeerId, proven: boolean) => void): () => void {
    this.#changeListeners.add(listener)
    return () => this.#changeListeners.delete(listener)
  }

  onMember(listener: (peer: PeerId) => void): () => void {
    this.#memberListeners.add(listener)
    return () => this.#memberListeners.delete(listener)
  }

  clear(): void {
    this.#counts.clear()
    this.#changeListeners.clear()
    this.#memberListeners.clear()
  }
}
