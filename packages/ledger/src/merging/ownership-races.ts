/**
 * Decides what happens when another live owner claims a key (docs/PROTOCOLS.md, 'Ownership races'). Of two claims within 10
 * s the later one loses, or the one that the bucket's rule names. Its claimant gives it up, if it made the claim no longer
 * ago by its own monotonic time. Anybody can date a claim back. Therefore nobody gives way twice to one claimant, nor
 * often to many. Any other claim is a conflict, which is reported until one side lets go.
 */
import { BoundedMap, type Clock, positionId } from '@mesh/core'
import { createRate, type RateLimit } from '@mesh/core/limits'
import { type Conflict, createConflicts } from './conflicts.ts'
import type { Entry, KeyedEntry } from '../entries/entry.ts'
import { ANNOUNCES, MAX_CONFLICTS, MAX_YIELDS, RACE_WINDOW_MS, YIELD_MEMORY_MS } from '../limits.ts'
import type { Position } from '../snapshot.ts'

const RACE_WINDOW_NS = BigInt(RACE_WINDOW_MS) * 1_000_000n

/** A refused claim of another owner. */
interface ForeignClaim {
  readonly incoming: KeyedEntry
  readonly existing: Entry
  /** Who holds the stored entry. */
  readonly holder: string
  readonly holderIsLive: boolean
  readonly claimantIsLive: boolean
  /** Tells which Values of the bucket give way. */
  readonly yields?: ((valueText: string) => boolean) | undefined
  readonly nowMs: number
}

export type Reaction =
  | { readonly type: 'none' }
  /** This node gives its entry up with a tombstone above both. */
  | { readonly type: 'yield'; readonly above: bigint }
  /** The other let go: this node writes its entry again above that tombstone. */
  | { readonly type: 'announce'; readonly above: bigint; readonly resolved: Conflict | undefined }
  /** The other may not know that this node holds the key: its entry is published as it stands. */
  | { readonly type: 'answer' }
  | { readonly type: 'conflict'; readonly conflict: Conflict; readonly answers: boolean }
  | { readonly type: 'resolved'; readonly conflict: Conflict }

export class OwnershipRaces {
  readonly conflicts = createConflicts()
  readonly #self: string
  readonly #clock: Clock
  /** Claims of this node not older than the window, in order of time; monotonic ms. */
  readonly #fresh = new Map<string, { version: bigint; atMs: number }>()
  readonly #announces: RateLimit
  /** The versions of the tombstones by which others gave keys of this node up, by key and peer: an older claim is ended. */
  readonly #givenUp = new BoundedMap<string, bigint>(MAX_CONFLICTS)
  /** The peers to whom this node gave a claim up, and when, in monotonic ms; the oldest first. */
  readonly #yieldedTo = new BoundedMap<string, number>(MAX_YIELDS)

  constructor(self: string, clock: Clock) {
    this.#self = self
    this.#clock = clock
    this.#announces = createRate(ANNOUNCES, clock)
  }

  /** This node took a key that it did not hold. */
  claimed(position: Position, version: bigint): void {
    const nowMs = this.#clock.monotonic()
    this.#forgetOld(nowMs)
    const id = positionId(position)
    this.#fresh.delete(id)
    this.#fresh.set(id, { version, atMs: nowMs })
  }

  reactTo(claim: ForeignClaim): Reaction {
    this.#forgetOld(this.#clock.monotonic())
    return claim.incoming.entry.deleted ? this.#reactToTombstone(claim) : this.#reactToClaim(claim)
  }

  #forgetOld(nowMs: number): void {
    for (const [id, { atMs }] of this.#fresh) {
      if (atMs + RACE_WINDOW_MS >= nowMs && this.#fresh.size <= MAX_CONFLICTS) return
      this.#fresh.delete(id)
    }
  }

  /**
   * Who took this node for gone, or its own entry for the key's, has ended what others hold by now: they take this
   * node's entry again only above that.
   */
  #reactToTombstone({ incoming, existing, holder }: ForeignClaim): Reaction {
    const { owner, version } = incoming.entry
    const resolved = this.conflicts.letGo(incoming, owner)
    if (holder === this.#self) this.#givenUp.set(claimId(incoming, owner), version)
    const isAbove = holder === this.#self && !existing.deleted && version > existing.version
    if (isAbove && this.#announces.take({ peer: positionId(incoming) })) {
      return { type: 'announce', above: version, resolved }
    }
    return resolved === undefined ? { type: 'none' } : { type: 'resolved', conflict: resolved }
  }

  #reactToClaim(claim: ForeignClaim): Reaction {
    const { incoming, existing, holder, nowMs } = claim
    const { owner, version } = incoming.entry
    const self = this.#self
    // What this node, or another, once claimed and has given up does not race with who holds it now.
    if (owner === self || !claim.holderIsLive || this.#isGivenUp(incoming)) return { type: 'none' }
    if (!claim.claimantIsLive) return this.#answerStaleClaim(claim)
    const own = holder === self ? this.#fresh.get(positionId(incoming)) : undefined
    if (own !== undefined && isWithinWindow(own.version, version)) {
      if (!givesWay(claim, own.version, self)) return { type: 'answer' }
      if (this.#mayYieldTo(owner)) {
        return { type: 'yield', above: version > existing.version ? version : existing.version }
      }
    }
    if (holder !== self && isFreshRace(claim)) return { type: 'none' }
    const conflict = this.conflicts.add(incoming, holder, owner, nowMs)
    // one that is known was answered: two that keep what they hold must not tell each other so for ever
    return conflict === undefined
      ? { type: 'none' }
      : { type: 'conflict', conflict, answers: holder === self }
  }

  /**
   * A member that holds such a claim took this node for gone; its own entry counts there again only above the claim. Below it
   * the claimant may live all the same, and neither has heard of the other.
   */
  #answerStaleClaim({ incoming, existing, holder }: ForeignClaim): Reaction {
    const { version } = incoming.entry
    if (holder !== this.#self || existing.deleted) return { type: 'none' }
    if (version < existing.version) return { type: 'answer' }
    return this.#announces.take({ peer: positionId(incoming) })
      ? { type: 'announce', above: version, resolved: undefined }
      : { type: 'none' }
  }

  #isGivenUp(incoming: KeyedEntry): boolean {
    const { owner, version } = incoming.entry
    const givenUp = this.#givenUp.get(claimId(incoming, owner))
    return givenUp !== undefined && version <= givenUp
  }

  /** Notes it where it may. */
  #mayYieldTo(claimant: string): boolean {
    const nowMs = this.#clock.monotonic()
    for (const [before, atMs] of this.#yieldedTo) {
      if (nowMs - atMs < YIELD_MEMORY_MS) break
      this.#yieldedTo.delete(before)
    }
    const atMs = this.#yieldedTo.get(claimant)
    if (atMs !== undefined) return nowMs - atMs <= RACE_WINDOW_MS
    if (this.#yieldedTo.size >= MAX_YIELDS) return false
    this.#yieldedTo.set(claimant, nowMs)
    return true
  }
}

function claimId(position: Position, owner: string): string {
  return `${positionId(position)} ${owner}`
}

/** Is this a race of two others that began just now? They end it between themselves. */
function isFreshRace({ incoming, existing, nowMs }: ForeignClaim): boolean {
  const { version } = incoming.entry
  const nowNs = BigInt(Math.floor(nowMs)) * 1_000_000n
  return isWithinWindow(version, existing.version) && nowNs - version <= RACE_WINDOW_NS
}

/**
 * Is this node's claim the one to be given up? A version that was raised, to answer a third one's tombstone, does not tell
 * any more which claim was first: of two such the greater peer id goes.
 * @param version of this node's claim when it made it
 */
function givesWay({ incoming, existing, yields }: ForeignClaim, version: bigint, self: string): boolean {
  const [ours, theirs] = [yields?.(existing.value) === true, yields?.(incoming.entry.value) === true]
  if (ours !== theirs) return ours
  const { entry } = incoming
  if (isGreater(version, self, entry.version, entry.owner)) return true
  return existing.version > version && self > entry.owner
}

function isWithinWindow(a: bigint, b: bigint): boolean {
  const distance = a > b ? a - b : b - a
  return distance <= RACE_WINDOW_NS
}

function isGreater(version: bigint, id: string, otherVersion: bigint, otherId: string): boolean {
  return version === otherVersion ? id > otherId : version > otherVersion
}
