/** Knows the members: peers that proved themselves on an open connection, or proved or were heard lately. */
import { BoundedMap, type Clock, type PeerId } from '@mesh/core'
import { HEARD_MEMBER_MS } from '../limits.ts'
import { Listeners } from '../listeners.ts'
import { MAX_HEARD_MEMBERS } from './limits.ts'

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

/** Peers that showed lately that they hold the network's key, by what they authored or by an earlier proof. */
class HeardMembers {
  readonly #clock: Clock
  /** When each peer was heard, in ms of monotonic time. */
  readonly #heardAt = new BoundedMap<string, number>(MAX_HEARD_MEMBERS)

  constructor(clock: Clock) {
    this.#clock = clock
  }

  note(peer: PeerId): void {
    this.#heardAt.set(peer, this.#clock.monotonic())
  }

  has(peer: string): boolean {
    return this.#clock.monotonic() - (this.#heardAt.get(peer) ?? Number.NEGATIVE_INFINITY) < HEARD_MEMBER_MS
  }
}

export class ProvenPeers {
  /** Peers that proved themselves lately. */
  readonly #proven: HeardMembers
  /** Peers that were heard lately. */
  readonly #heard: HeardMembers
  readonly #mayOnlyProve: (peer: string) => boolean
  /** The number of open proven connections, by peer. */
  readonly #counts = new Map<PeerId, number>()
  readonly #changed = new Listeners<[peer: PeerId, proven: boolean]>()
  readonly #became = new Listeners<[peer: PeerId]>()
  /** True for peers that may use the network as far as `Admission` says; they need not be members. */
  readonly mayUse: (peer: string) => boolean
  readonly #proof = new Listeners<[peer: PeerId, proven: boolean]>()
  /** The peers that were told to be proven. */
  readonly #told = new Set<PeerId>()

  constructor({ clock, mayUse, mayOnlyProve }: ProvenPeersInit) {
    this.#proven = new HeardMembers(clock)
    this.#heard = new HeardMembers(clock)
    this.mayUse = mayUse
    this.#mayOnlyProve = mayOnlyProve
  }

  /** True when the peer proved itself on a connection that is open now. */
  isProven(peer: string): boolean {
    return this.#counts.has(peer as PeerId) && this.mayUse(peer)
  }

  /** True when the peer proved itself on a live connection, or did so or, without the protocol for it, was heard lately. */
  isMember(peer: string): boolean {
    if (!this.mayUse(peer)) return false
    if (this.#counts.has(peer as PeerId) || this.#proven.has(peer)) return true
    return this.#heard.has(peer) && !this.#mayOnlyProve(peer)
  }

  /** Gives the members that are proven and connected. */
  members(): readonly PeerId[] {
    return [...this.#counts.keys()].filter(this.mayUse)
  }

  /** Must be called when what `Admission` says has changed: tells the proven peers that came and went by that. */
  admissionChanged(): void {
    for (const peer of new Set([...this.#told, ...this.#counts.keys()])) {
      const comes = this.isProven(peer) && !this.#told.has(peer)
      this.#tell(peer)
      if (comes) this.#became.tell(peer)
    }
  }

  /** The peer authored a message that only a member can. Counts for peers without the member protocol. */
  noteAuthor(peer: PeerId): void {
    this.#note(peer, this.#heard)
  }

  #note(peer: PeerId, members: HeardMembers): void {
    const wasMember = this.isMember(peer)
    members.note(peer)
    if (!wasMember && this.isMember(peer)) this.#became.tell(peer)
  }

  /** A proven connection of the peer opened (1) or closed (-1). */
  count(peer: PeerId, change: 1 | -1): void {
    this.#note(peer, this.#proven)
    const before = this.#counts.get(peer) ?? 0
    const now = before + change
    if (now === 0) this.#counts.delete(peer)
    else this.#counts.set(peer, now)
    if (before === 0 || now === 0) this.#proof.tell(peer, now !== 0)
    this.#tell(peer)
  }

  /** Who is proven whatever `Admission` says of it. */
  readonly ungated: ProvenView = {
    isProven: (peer) => this.#counts.has(peer as PeerId),
    members: () => [...this.#counts.keys()],
    onChange: this.#proof.add,
  }

  readonly onChange = this.#changed.add

  /** Tells each peer that becomes a member: by proof, or by what it authored, however long it has been connected. */
  readonly onMember = this.#became.add

  #tell(peer: PeerId): void {
    const proven = this.isProven(peer)
    if (proven === this.#told.has(peer)) return
    if (proven) this.#told.add(peer)
    else this.#told.delete(peer)
    this.#changed.tell(peer, proven)
  }

  clear(): void {
    this.#counts.clear()
    this.#told.clear()
    for (const listeners of [this.#changed, this.#proof, this.#became]) listeners.clear()
  }
}
