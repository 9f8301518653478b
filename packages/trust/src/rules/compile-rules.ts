/**
 * Compiles rules for the packet filter of one node. 1 Rules that concern packets to this node, or to what it receives for,
 * stay. 2 Each list of sources and each list of targets becomes a set. 3 Each range that anything is known of gets its sets.
 *
 * Only this node's own addresses, guests and routes are targets. What others claim in the ledger (an address, a route)
 * changes who they are as sources, and never what a packet to this node's networks or to the Internet reaches.
 */
import { type Cidr, cidrContains, type IpAddress, parseCidr, type PeerId } from '@mesh/core'
import type { RuleLayer } from './judge.ts'
import type { OfferWord } from './offers.ts'
import type { PacketMatch, PacketRange, PacketRule, PacketRules } from './packet-rules.ts'
import { createRangeIndex, rangeOf } from './ranges.ts'
import { guestKey, type Rule, type TermSet } from './rule-set.ts'
import type { RuledMember } from './ruled-members.ts'

export interface CompileInit {
  readonly self: PeerId
  readonly members: ReadonlyMap<string, RuledMember>
  /** The ranges that members have addresses in: nothing in them is the Internet or a network behind a member. */
  readonly vpnRanges: readonly Cidr[]
  readonly silent: boolean
}

export interface CompiledRules {
  readonly rules: PacketRules
  /** The place, counted from 0, in its policy of each packet rule, by layer. */
  readonly origins: readonly {
    readonly layer: RuleLayer['name']
    readonly rules: readonly number[]
  }[]
}

const EVERYWHERE: readonly Cidr[] = [parseCidr('0.0.0.0/0'), parseCidr('::/0')]

/** Undefined where every layer allows everything. */
export function compileRules(layers: readonly RuleLayer[], init: CompileInit): CompiledRules | undefined {
  const closed = layers.filter(({ rules }) => !rules.isOpen)
  if (closed.length === 0) return undefined
  const sets = new SetNumbers()
  const compiled = closed.map(({ name, rules }) => ({
    layer: name,
    ...compileLayer(rules.rules, sets, init),
  }))
  return {
    rules: {
      ranges: buildRanges(sets, init),
      layers: compiled.map((each) => each.rules),
      silent: init.silent,
    },
    origins: compiled.map(({ layer, origins }) => ({ layer, rules: origins })),
  }
}

/** Lists of sources and of targets, which count apart. */
class SetNumbers {
  readonly #numbers = new Map<TermSet, number>()
  readonly #targets = new Map<TermSet, number>()
  #next = 0

  source(set: TermSet): number | undefined {
    return set.any ? undefined : this.#numberIn(this.#numbers, set)
  }

  target(set: TermSet): number | undefined {
    return set.any ? undefined : this.#numberIn(this.#targets, set)
  }

  get sources(): Iterable<readonly [TermSet, number]> {
    return this.#numbers
  }

  get targets(): Iterable<readonly [TermSet, number]> {
    return this.#targets
  }

  #numberIn(numbers: Map<TermSet, number>, set: TermSet): number {
    let number = numbers.get(set)
    if (number === undefined) numbers.set(set, (number = this.#next++))
    return number
  }
}

function compileLayer(rules: readonly Rule[], sets: SetNumbers, { self }: CompileInit) {
  const compiled: PacketRule[] = []
  const origins: number[] = []
  for (const [at, { from, to, on }] of rules.entries()) {
    const matches = matchesOf(on)
    if (matches === undefined || !concerns(to, self)) continue
    compiled.push({ from: sets.source(from), to: sets.target(to), on: matches })
    origins.push(at)
  }
  return { rules: compiled, origins }
}

/** Undefined where no packet is meant; empty for all packets. */
function matchesOf(on: readonly OfferWord[]): readonly PacketMatch[] | undefined {
  if (on.some(({ kind }) => kind === 'all')) return []
  const matches = on.flatMap((word) => (word.kind === 'packets' ? word.match : []))
  return matches.length === 0 ? undefined : matches
}

/** Whatever is routed may be routed by this node, so these rules stay on all nodes. */
function concerns(to: TermSet, self: PeerId): boolean {
  return to.any || to.exit || to.routes.length > 0 || to.members.has(self) || to.guestHosts.has(self)
}

function buildRanges(sets: SetNumbers, init: CompileInit): readonly PacketRange[] {
  const { self, members, vpnRanges } = init
  const index = indexSets(sets, self)
  const ranges = new Map<Cidr, readonly number[]>()
  const networks = [...index.routed, ...(members.get(self)?.routes ?? [])]
  for (const range of EVERYWHERE) ranges.set(range, index.exitTargets)
  for (const range of networks)
    ranges.set(range, [...index.routeSources(range), ...index.routeTargets(range)])
  for (const range of vpnRanges) ranges.set(range, [])
  const around = createRangeIndex([...networks, ...vpnRanges, ...EVERYWHERE])
  for (const member of members.values()) {
    const add = (address: IpAddress, source: readonly number[], target: readonly number[]) => {
      const range = rangeOf(address)
      // what another member claims is no less a part of this node's networks, or of the Internet
      const targets =
        member.peer === self ? target : targetsAround(around.containing(range), index, vpnRanges)
      const numbers = [...source, ...targets]
      const isSaid = numbers.length === 0 && vpnRanges.some((each) => cidrContains(each, address))
      if (!isSaid) ranges.set(range, numbers)
    }
    const source = index.memberSources.get(member.peer) ?? []
    for (const address of member.addresses) add(address, source, index.ownTargets)
    for (const { name, addresses } of member.guests) {
      const key = guestKey(name, member.peer)
      const [from, to] = [index.guestSources.get(key) ?? [], index.guestTargets.get(key) ?? []]
      for (const address of addresses) add(address, from, to)
    }
  }
  return [...ranges].map(([range, numbers]) => ({ range, sets: numbers }))
}

/** The target sets of the longest range around an address that another member claims. */
function targetsAround(
  around: readonly Cidr[],
  index: SetIndex,
  vpnRanges: readonly Cidr[],
): readonly number[] {
  const length = (range: Cidr) => Number(range.slice(range.lastIndexOf('/') + 1))
  const [longest] = around.toSorted((a, b) => length(b) - length(a))
  if (longest === undefined || vpnRanges.includes(longest)) return []
  return EVERYWHERE.includes(longest) ? index.exitTargets : index.routeTargets(longest)
}

interface SetIndex {
  readonly memberSources: ReadonlyMap<string, readonly number[]>
  readonly guestSources: ReadonlyMap<string, readonly number[]>
  readonly guestTargets: ReadonlyMap<string, readonly number[]>
  /** The sets of targets that this node is in. */
  readonly ownTargets: readonly number[]
  readonly exitTargets: readonly number[]
  /** The networks that rules name. */
  readonly routed: ReadonlySet<Cidr>
  routeSources(range: Cidr): readonly number[]
  routeTargets(range: Cidr): readonly number[]
}

/** Which sets a member, guest or network is in, found without asking each set. */
function indexSets(sets: SetNumbers, self: PeerId): SetIndex {
  const [memberSources, guestSources, guestTargets] = [new Lists(), new Lists(), new Lists()]
  const [sourceRoutes, targetRoutes] = [new Lists(), new Lists()]
  const ownTargets: number[] = []
  const exitTargets: number[] = []
  for (const [set, number] of sets.sources) {
    for (const member of set.members) memberSources.add(member, number)
    for (const guest of set.guests) guestSources.add(guest, number)
    for (const range of set.routes) sourceRoutes.add(range, number)
  }
  for (const [set, number] of sets.targets) {
    if (set.members.has(self)) ownTargets.push(number)
    if (set.exit) exitTargets.push(number)
    for (const guest of set.guests) guestTargets.add(guest, number)
    for (const range of set.routes) targetRoutes.add(range, number)
  }
  const routed = new Set([...sourceRoutes.keys(), ...targetRoutes.keys()] as Cidr[])
  const outer = createRangeIndex(routed)
  const numbersIn = (lists: Lists) => (range: Cidr) => [
    ...new Set(outer.containing(range).flatMap((each) => lists.get(each) ?? [])),
  ]
  return {
    memberSources,
    guestSources,
    guestTargets,
    ownTargets,
    exitTargets,
    routed,
    routeSources: numbersIn(sourceRoutes),
    routeTargets: numbersIn(targetRoutes),
  }
}

class Lists extends Map<string, number[]> {
  add(key: string, number: number): void {
    const known = this.get(key)
    if (known === undefined) this.set(key, [number])
    else known.push(number)
  }
}
