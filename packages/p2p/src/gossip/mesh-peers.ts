/** Which end of each pair of mesh peers of one topic wants the other, so that none is given up that the other end counts on. Pure. */
import { USEFUL_MESH_PEER_MAX_MS, USEFUL_MESH_PEER_MIN_MS, USEFUL_MESH_PEER_TRIALS } from './limits.ts'

export interface MeshPeers {
  /** This end picks the peer; gives true the first time, when the peer must be told. */
  want(peer: string): boolean
  /** The peer said that it picks this end. */
  wantedBy(peer: string): void
  /**
   * Notes that the peer had a message that no mesh peer had sent: the others do not reach it, or were slow. It stays a mesh peer for
   * a while, longer each time.
   */
  useful(peer: string, nowMs: number): void
  /** How many peers stay because they were useful, and are to be asked about again. */
  countUseful(nowMs: number): number
  /**
   * This end picks the peer no more; gives true when the peer may be given up.
   * @param mayTry also where the other end wanted this one, which asks again if it still does, and hears nothing meanwhile
   */
  giveUp(peer: string, nowMs: number, mayTry: boolean): boolean
  /** The peer does not take us into its mesh; it is not asked again. */
  refusedBy(peer: string): void
  isRefusedBy(peer: string): boolean
  /** The peer is no mesh peer any more. */
  gone(peer: string): void
}

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

/** Creates the record of one topic, empty. */
export function createMeshPeers(self: string): MeshPeers {
  const ends = new Map<string, Ends>()
  const refused = new Set<string>()
  const of = (peer: string): Ends => {
    const known = ends.get(peer)
    if (known !== undefined) return known
    const made = { mine: false, theirs: false, kept: false, onTrial: false, usefulUntil: 0, usefulTimes: 0 }
    ends.set(peer, made)
    return made
  }
  return {
    want(peer) {
      const pair = of(peer)
      const first = !pair.mine
      pair.mine = true
      return first
    },
    wantedBy(peer) {
      const pair = of(peer)
      pair.theirs = true
      if (pair.onTrial) pair.kept = true
    },
    useful(peer, nowMs) {
      const pair = of(peer)
      if (nowMs < pair.usefulUntil) return
      const growth = 4 ** Math.max(0, ++pair.usefulTimes - USEFUL_MESH_PEER_TRIALS)
      pair.usefulUntil = nowMs + Math.min(USEFUL_MESH_PEER_MAX_MS, growth * USEFUL_MESH_PEER_MIN_MS)
    },
    countUseful: (nowMs) => [...ends.values()].filter(({ usefulUntil }) => nowMs < usefulUntil).length,
    giveUp(peer, nowMs, mayTry) {
      const pair = of(peer)
      pair.mine = false
      if (pair.kept || nowMs < pair.usefulUntil) return false
      // what both ends wanted once, one of them gives up on trial: the other asks again if it still wants it
      if (pair.theirs && (!mayTry || self > peer)) return false
      pair.onTrial = pair.theirs
      pair.theirs = false
      return true
    },
    refusedBy: (peer) => refused.add(peer),
    isRefusedBy: (peer) => refused.has(peer),
    gone(peer) {
      const pair = ends.get(peer)
      if (pair !== undefined) Object.assign(pair, { mine: false, theirs: false })
    },
  }
}
