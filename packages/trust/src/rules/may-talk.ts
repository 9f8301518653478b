/** Says whether two members may talk at all: without, nobody relays for them, and they punch no holes. Pure. */
import type { Cidr, PeerId } from '@mesh/core'
import { rangeContains } from './ranges.ts'
import type { Rule, RuleSet, TermSet } from './rule-set.ts'

/** Tells what stands behind members beside themselves, by the ledger. */
export interface Behind {
  /** The networks that the member advertises. */
  routesOf(peer: PeerId): readonly Cidr[]
  /** True for a member through which others reach the Internet. */
  isExit(peer: PeerId): boolean
}

/** True when a rule allows anything from `from`, or from what is behind it, to `to` or what is behind that. */
export function mayReachAny(
  { isOpen, rules }: RuleSet,
  { from, to }: { readonly from: PeerId; readonly to: PeerId },
  behind: Behind,
): boolean {
  return isOpen || rules.some((rule) => touches(rule, { from, to }, behind))
}

function touches(rule: Rule, { from, to }: { from: PeerId; to: PeerId }, behind: Behind): boolean {
  if (!stands(rule.from, from, behind)) return false
  return stands(rule.to, to, behind) || (rule.to.exit && behind.isExit(to))
}

function stands(set: TermSet, peer: PeerId, behind: Behind): boolean {
  if (set.any || set.members.has(peer) || set.guestHosts.has(peer)) return true
  return set.routes.length > 0 && behind.routesOf(peer).some((own) => set.routes.some(overlaps(own)))
}

const overlaps = (own: Cidr) => (range: Cidr) => rangeContains(own, range) || rangeContains(range, own)
