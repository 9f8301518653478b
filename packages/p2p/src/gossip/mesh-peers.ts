/** Which end of each link of one topic wants it, so that none is given up that the other end counts on. Pure. */
import { USEFUL_LINK_MAX_MS, USEFUL_LINK_MIN_MS, USEFUL_LINK_TRIALS } from '../limits.ts'

export interface Links {
  /** This end picks the peer; true the first time, when the peer must be told. */
  want(peer: string): boolean
  /** The peer said that it wants the link. */
  wantedBy(peer: string): void
  /**
   * The peer had a message that had come by no link. It stands where the others do not reach, or they were slow, as
   * in a burst: so the link stays for a while, longer each time that it turns out to be missed.
   */
  useful(peer: string, nowMs: number): void
  /** Some link stays only because it was useful: to be asked about again. */
  hasUseful(nowMs: number): boolean
  /** This end picks the peer no more; true when the link may go. */
  giveUp(peer: string, nowMs: number): boolean
  /** The peer does not take us as a link; it is not asked again. */
  refusedBy(peer: string): void
  isRefusedBy(peer: string): boolean
  /** The link is no more. */
  gone(peer: string): void
}

interface Ends {
  mine: boolean
  theirs: boolean
  /** Given up once and asked for again by the peer. */
  kept: boolean
  asked: boolean
  /** Unix ms; 0: it never was. */
  usefulUntil: number
  /** How often it turned out so. */
  usefulTimes: number
}

export function createLinks(self: string): Links {
  const links = new Map<string, Ends>()
  const refused = new Set<string>()
  const of = (peer: string): Ends => {
    const known = links.get(peer)
    if (known !== undefined) return known
    const made = { mine: false, theirs: false, kept: false, asked: false, usefulUntil: 0, usefulTimes: 0 }
    links.set(peer, made)
    return made
  }
  return {
    want(peer) {
      const link = of(peer)
      const first = !link.mine
      link.mine = true
      return first
    },
    wantedBy(peer) {
      const link = of(peer)
      link.theirs = true
      if (link.asked) link.kept = true
    },
    useful(peer, nowMs) {
      const link = of(peer)
      if (nowMs < link.usefulUntil) return
      const growth = 4 ** Math.max(0, ++link.usefulTimes - USEFUL_LINK_TRIALS)
      link.usefulUntil = nowMs + Math.min(USEFUL_LINK_MAX_MS, growth * USEFUL_LINK_MIN_MS)
    },
    hasUseful: (nowMs) => [...links.values()].some(({ usefulUntil }) => nowMs < usefulUntil),
    giveUp(peer, nowMs) {
      const link = of(peer)
      link.mine = false
      if (link.kept || nowMs < link.usefulUntil) return false
      // what both ends wanted once, one of them gives up on trial: the other asks again if it still wants it
      if (link.theirs && self > peer) return false
      link.asked = link.theirs
      link.theirs = false
      return true
    },
    refusedBy: (peer) => refused.add(peer),
    isRefusedBy: (peer) => refused.has(peer),
    gone(peer) {
      const link = links.get(peer)
      if (link !== undefined) Object.assign(link, { mine: false, theirs: false })
    },
  }
}
