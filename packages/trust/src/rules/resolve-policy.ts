/**
 * Replaces the names of members in a policy by their peer ids, as they are when it is signed: names prove nothing, and anyone
 * may take one later. Also the way back, for people to read.
 */
import { type Issue, type PeerId, tryParsePeerId } from '@mesh/core'
import { badPolicy, fieldOf, nearestHint } from './check-policy.ts'
import type { Policy } from './policy-schema.ts'
import { formatTerm, isPolicyName, parseTerm } from './terms.ts'

/** A member and what people call it; '' for one without a name. */
export interface NamedMember {
  readonly peer: PeerId
  readonly name: string
}

export interface ResolvedPolicy {
  /** The policy with peer ids in the place of names. */
  readonly policy: Policy
  /** Names of members in the policy, by peer id, as they were when it was resolved; names that no policy can hold are left out. */
  readonly names: Readonly<Record<string, string>>
}

/** @throws MeshError `trust.bad_policy` for names that nobody has, or that several have */
export function resolvePolicy(policy: Policy, members: Iterable<NamedMember>): ResolvedPolicy {
  const resolver = new Resolver(members)
  const resolved = mapMembers(policy, (text, field) => resolver.resolve(text, field))
  if (resolver.issues.length > 0) throw badPolicy(resolver.issues)
  return { policy: resolved, names: Object.fromEntries(resolver.used) }
}

/**
 * Puts names in the place of peer ids where a name stands for exactly this member now. The result resolves to the same policy.
 */
export function nameMembers(policy: Policy, members: Iterable<NamedMember>): Policy {
  const { peersOf, nameOf } = indexMembers(members)
  return mapMembers(policy, (text) => {
    const name = nameOf.get(text) ?? ''
    return peersOf.get(name)?.length === 1 && parseTerm(name)?.kind === 'member' ? name : text
  })
}

/** Reads one endpoint as a person writes it: `laptop-1` or `guest:phone@laptop-1`. @throws MeshError `trust.bad_policy` */
export function resolveWord(
  text: string,
  members: Iterable<NamedMember>,
  about: { readonly field: string; readonly form: string },
): string {
  const term = parseTerm(text)
  if (term === undefined) {
    throw badPolicy([{ field: about.field, value: text.slice(0, 80), expected: about.form }])
  }
  const resolver = new Resolver(members)
  const resolved = replaceMember(text, (member) => resolver.resolve(member, about.field))
  if (resolver.issues.length > 0) throw badPolicy(resolver.issues)
  return resolved
}

class Resolver {
  readonly issues: Issue[] = []
  readonly used = new Map<string, string>()
  readonly #peersOf: ReadonlyMap<string, readonly PeerId[]>
  readonly #nameOf: ReadonlyMap<string, string>

  constructor(members: Iterable<NamedMember>) {
    const { peersOf, nameOf } = indexMembers(members)
    this.#peersOf = peersOf
    this.#nameOf = nameOf
  }

  /** Gives the member's peer id; an issue, and the text itself, where it stands for none or for several. */
  resolve(text: string, field: string): string {
    const peer = tryParsePeerId(text)
    if (peer !== undefined) return this.#use(peer, this.#nameOf.get(peer) ?? '')
    const peers = this.#peersOf.get(text) ?? []
    if (peers.length === 1 && peers[0] !== undefined) return this.#use(peers[0], text)
    const expected =
      peers.length === 0
        ? (nearestHint(text, this.#peersOf.keys()) ?? 'a member that this node knows, by its name or peer id')
        : `a peer id, as several members have this name: ${peers.slice(0, 4).join(', ')}`
    this.issues.push({ field, value: text, expected })
    return text
  }

  #use(peer: PeerId, name: string): PeerId {
    if (isPolicyName(name)) this.used.set(peer, name)
    return peer
  }
}

function indexMembers(members: Iterable<NamedMember>) {
  const peersOf = new Map<string, PeerId[]>()
  const nameOf = new Map<string, string>()
  for (const { peer, name } of members) {
    if (name === '') continue
    nameOf.set(peer, name)
    const same = peersOf.get(name)
    if (same === undefined) peersOf.set(name, [peer])
    else if (!same.includes(peer)) same.push(peer)
  }
  return { peersOf, nameOf }
}

type MapMember = (member: string, field: string) => string

/** Gives the policy with each member replaced. */
function mapMembers(policy: Policy, map: MapMember): Policy {
  const word = (text: string, field: string) => replaceMember(text, (member) => map(member, field))
  const words = (texts: readonly string[], path: readonly PropertyKey[]) =>
    texts.map((text, at) => word(text, fieldOf([...path, at])))
  const lists = (of: Policy['groups'], field: string) =>
    Object.fromEntries(Object.entries(of).map(([name, texts]) => [name, words(texts, [field, name])]))
  return {
    default: policy.default,
    groups: lists(policy.groups, 'groups'),
    tags: lists(policy.tags, 'tags'),
    allow: policy.allow.map(({ from, to, on }, at) => ({
      from: words(from, ['allow', at, 'from']),
      to: words(to, ['allow', at, 'to']),
      on,
    })),
    tests: policy.tests.map(({ from, to, on, expect }, at) => ({
      from: word(from, fieldOf(['tests', at, 'from'])),
      to: word(to, fieldOf(['tests', at, 'to'])),
      on,
      expect,
    })),
  }
}

function replaceMember(text: string, map: (member: string) => string): string {
  const term = parseTerm(text)
  if (term?.kind !== 'member' && term?.kind !== 'guest') return text
  return formatTerm({ ...term, member: map(term.member) })
}
