/** Lists everything that rules can be about: members, guests, routes, and the Internet. Pure. */
import type { Cidr, IpAddress, PeerId } from '@mesh/core'
import { MAX_TABLE_ENDPOINTS } from '../limits.ts'
import { type Endpoint, formatEndpoint, type RuleLayer } from './judge.ts'
import type { RuleSet, TermSet } from './rule-set.ts'
import type { RuledMember } from './ruled-members.ts'

/** Gives each once: what the rules name, and then what the ledger tells of. */
export function listEndpoints(
  members: ReadonlyMap<string, RuledMember>,
  policies: readonly RuleSet[],
): readonly Endpoint[] {
  const found = new Map<string, Endpoint>()
  const add = (end: Endpoint) => found.set(formatEndpoint(end), end)
  add({ kind: 'exit' })
  for (const set of listsIn(policies)) {
    for (const peer of set.members) add({ kind: 'member', peer: peer as PeerId })
    for (const guest of set.guests) add(guestOf(guest))
    for (const range of set.routes) add({ kind: 'route', range })
  }
  for (const { peer, guests, routes } of members.values()) {
    if (found.size >= MAX_TABLE_ENDPOINTS) break
    add({ kind: 'member', peer })
    for (const { name } of guests) add({ kind: 'guest', name, peer })
    for (const range of routes) add({ kind: 'route', range })
  }
  return [...found.values()].slice(0, MAX_TABLE_ENDPOINTS)
}

/** The networks that rules name. */
export function routesIn(layers: readonly RuleLayer[]): readonly Cidr[] {
  return [...listsIn(layers.map(({ rules }) => rules))].flatMap(({ routes }) => routes)
}

/** Each address of members and their guests, with whose it is. */
export function* addressesOf(members: Iterable<RuledMember>): Generator<readonly [IpAddress, Endpoint]> {
  for (const { peer, addresses, guests } of members) {
    for (const address of addresses) yield [address, { kind: 'member', peer }]
    for (const guest of guests) {
      for (const address of guest.addresses) yield [address, { kind: 'guest', name: guest.name, peer }]
    }
  }
}

function listsIn(policies: readonly RuleSet[]): ReadonlySet<TermSet> {
  return new Set(policies.flatMap(({ rules }) => rules.flatMap(({ from, to }) => [from, to])))
}

function guestOf(key: string): Endpoint {
  const at = key.lastIndexOf('@')
  const peer = key.slice(at + 1) as PeerId
  return { kind: 'guest', name: key.slice(0, at), peer }
}
