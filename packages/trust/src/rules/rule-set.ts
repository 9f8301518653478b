/** A policy in the form in which it is judged: words are read, and groups and tags stand for their members. */
import type { Cidr } from '@mesh/core'
import { type OfferWord, parseOfferWord } from './offers.ts'
import type { Policy } from './policy-schema.ts'
import { parseTerm, type Term } from './terms.ts'

export interface RuleSet {
  /** True with `default: allow`: everything is allowed. */
  readonly isOpen: boolean
  readonly rules: readonly Rule[]
}

export interface Rule {
  readonly from: TermSet
  readonly to: TermSet
  readonly on: readonly OfferWord[]
  /** The words of `on` as they were written. */
  readonly words: readonly string[]
}

/** The members, guests, networks and the Internet that a list of words stands for. Rules with the same list share one. */
export interface TermSet {
  /** True when `*` is in the list. */
  readonly any: boolean
  /** The peer ids of its members, those of groups and tags included. */
  readonly members: ReadonlySet<string>
  /** Guests as `guestKey` makes them. */
  readonly guests: ReadonlySet<string>
  /** Peer ids of the nodes of these guests. */
  readonly guestHosts: ReadonlySet<string>
  readonly routes: readonly Cidr[]
  readonly exit: boolean
}

/** One text for a guest and its node. */
export function guestKey(name: string, peer: string): string {
  return `${name}@${peer}`
}

/** @param policy with peer ids in the place of names */
export function buildRuleSet(policy: Policy): RuleSet {
  const shared = new Map<string, TermSet>()
  const termSet = (texts: readonly string[]) => {
    const key = [...new Set(texts)].sort().join(' ')
    const known = shared.get(key) ?? expand(texts, policy)
    shared.set(key, known)
    return known
  }
  return {
    isOpen: policy.default === 'allow',
    rules: policy.allow.map(({ from, to, on }) => ({
      from: termSet(from),
      to: termSet(to),
      on: on.flatMap((text) => parseOfferWord(text) ?? []),
      words: on,
    })),
  }
}

function expand(texts: readonly string[], policy: Policy): TermSet {
  const terms = texts.flatMap((text) => membersOf(parseTerm(text), policy))
  const guests = terms.filter((term) => term.kind === 'guest')
  return {
    any: terms.some(({ kind }) => kind === 'any'),
    members: new Set(terms.flatMap((term) => (term.kind === 'member' ? term.member : []))),
    guests: new Set(guests.map(({ name, member }) => guestKey(name, member))),
    guestHosts: new Set(guests.map(({ member }) => member)),
    routes: [...new Set(terms.flatMap((term) => (term.kind === 'route' ? term.range : [])))],
    exit: terms.some(({ kind }) => kind === 'exit'),
  }
}

/** A group or tag gives its members, any other word itself. */
function membersOf(term: Term | undefined, { groups, tags }: Policy): readonly Term[] {
  if (term === undefined) return []
  if (term.kind !== 'group' && term.kind !== 'tag') return [term]
  const lists = term.kind === 'group' ? groups : tags
  const texts = Object.hasOwn(lists, term.name) ? lists[term.name] : undefined
  return (texts ?? []).flatMap((text) => parseTerm(text) ?? [])
}
