/** Who is a member: who proved itself on an open connection, and who did or was heard lately. */
import type { Clock, PeerId } from '@mesh/core'
import { createHeardMembers, type HeardMembers } from './heard-members.ts'

export class ProvenPeers {
  readonly #heard: HeardMembers
  /** The number of open proven connections, by peer. */
  readonly #counts = new Map<PeerId, number>()
  readonly #changeListeners = new Set<(peer: PeerId, proven: boolean) => void>()
  readonly #memberListeners = new Set<(peer: PeerId) => void>()

  constructor(clock: Clock) {
    this.#heard = createHeardMembers(clock)
  }

  isProven(peer: string): boolean {
    return this.#counts.has(peer as PeerId)
  }

  isMember(peer: string): boolean {
    return this.isProven(peer) || this.#heard.has(peer)
  }

  list(): readonly PeerId[] {
    return [...this.#counts.keys()]
  }

  /** The peer showed that it holds the network's key; tells whoever asked, if it was no member before. */
  note(peer: PeerId): void {
    if (!this.#heard.note(peer)) return
    for (const listener of this.#memberListeners) listener(peer)
  }

  /** A proven connection of the peer opened (1) or closed (-1). */
  count(peer: PeerId, change: 1 | -1): void {
    const before = this.#counts.get(peer) ?? 0
    const now = before + change
    if (now === 0) this.#counts.delete(peer)
    else this.#counts.set(peer, now)
    this.note(peer)
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
