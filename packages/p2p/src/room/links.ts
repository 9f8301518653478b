/** Which end of each link of one topic wants it, so that none is given up that the other end counts on. Pure. */
export interface Links {
  /** This end picks the peer; true the first time, when the peer must be told. */
  want(peer: string): boolean
  /** The peer said that it wants the link. */
  wantedBy(peer: string): void
  /** Never given up by this end: messages came over it that came by no other. */
  keep(peer: string): void
  /** This end picks the peer no more; true when the link may go. */
  giveUp(peer: string): boolean
  /** The peer does not take us as a link; it is not asked again. */
  refusedBy(peer: string): void
  isRefusedBy(peer: string): boolean
  /** The link is no more. */
  gone(peer: string): void
}

interface Ends {
  mine: boolean
  theirs: boolean
  /** Given up once and asked for again by the peer, or proven useful. */
  kept: boolean
  asked: boolean
}

export function createLinks(self: string): Links {
  const links = new Map<string, Ends>()
  const refused = new Set<string>()
  const of = (peer: string): Ends => {
    const known = links.get(peer)
    if (known !== undefined) return known
    const made = { mine: false, theirs: false, kept: false, asked: false }
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
    keep(peer) {
      of(peer).kept = true
    },
    giveUp(peer) {
      const link = of(peer)
      link.mine = false
      if (link.kept) return false
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
