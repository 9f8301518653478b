/** Which end of each pair of mesh peers of one topic wants the other, so that none is given up that the other end counts on. Pure. */
import { USEFUL_MESH_PEER_MAX_MS, USEFUL_MESH_PEER_MIN_MS, USEFUL_MESH_PEER_TRIALS } from './limits.ts'

interface Ends {
  mine: boolean
  theirs: boolean
  /** This end gave the peer up once, and the peer asked for it again. */
  kept: boolean
  /** This end gave up a peer that wanted it, on trial. */
  onTrial: boolean
  /** The unix ms until which it stays for being useful; 0 when it never was. */
  usefulUntil: number
  /** How often it turned out to be missed. */
  usefulTimes: number
}

/** The record of one topic. */
export class MeshPeers {
  readonly #self: string
  readonly #ends = new Map<string, Ends>()
  readonly #refused = new Set<string>()

  constructor(self: string) {
    this.#self = self
  }

  #of(peer: string): Ends {
    const ends = this.#ends.get(peer) ?? {
      mine: false,
      theirs: false,
      kept: false,
      onTrial: false,
      usefulUntil: 0,
      usefulTimes: 0,
    }
    this.#ends.set(peer, ends)
    return ends
  }

  /** This end picks the peer; gives true the first time, when the peer must be told. */
  want(peer: string): boolean {
    const pair = this.#of(peer)
    const first = !pair.mine
    pair.mine = true
    return first
  }

  /** The peer said that it picks this end. */
  wantedBy(peer: string): void {
    const pair = this.#of(peer)
    pair.theirs = true
    if (pair.onTrial) pair.kept = true
  }

  /**
   * Notes that the peer had a message that no mesh peer had sent: the others do not reach it, or were slow. It stays a mesh peer for
   * a while, longer each time.
   */
  useful(peer: string, nowMs: number): void {
    const pair = this.#of(peer)
    if (nowMs < pair.usefulUntil) return
    const growth = 4 ** Math.max(0, ++pair.usefulTimes - USEFUL_MESH_PEER_TRIALS)
    pair.usefulUntil = nowMs + Math.min(USEFUL_MESH_PEER_MAX_MS, growth * USEFUL_MESH_PEER_MIN_MS)
  }

  /** How many peers stay because they were useful, and are to be asked about again. */
  countUseful(nowMs: number): number {
    return [...this.#ends.values()].filter(({ usefulUntil }) => nowMs < usefulUntil).length
  }

  /**
   * This end picks the peer no more; gives true when the peer may be given up.
   * @param mayTry also where the other end wanted this one, which asks again if it still does, and hears nothing meanwhile
   */
  giveUp(peer: string, nowMs: number, mayTry: boolean): boolean {
    const pair = this.#of(peer)
    pair.mine = false
    if (pair.kept || nowMs < pair.usefulUntil) return false
    // what both ends wanted once, one of them gives up on trial: the other asks again if it still wants it
    if (pair.theirs && (!mayTry || this.#self > peer)) return false
    pair.onTrial = pair.theirs
    pair.theirs = false
    return true
  }

  /** The peer does not take us into its mesh; it is not asked again. */
  refusedBy(peer: string): void {
    this.#refused.add(peer)
  }

  isRefusedBy(peer: string): boolean {
    return this.#refused.has(peer)
  }

  /** The peer is no mesh peer any more. */
  gone(peer: string): void {
    const pair = this.#ends.get(peer)
    if (pair !== undefined) Object.assign(pair, { mine: false, theirs: false })
  }
}
