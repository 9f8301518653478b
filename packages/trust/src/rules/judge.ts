/** Judges who may reach what by the rules of each layer. Pure. */
import type { Cidr, PeerId } from '@mesh/core'
import { describeOffer, type Offer, wordAllows } from './offers.ts'
import { rangeContains } from './ranges.ts'
import { guestKey, type Rule, type RuleSet, type TermSet } from './rule-set.ts'
import { formatTerm, parseTerm, type Term } from './terms.ts'

/** One end of a flow. */
export type Endpoint =
  | { readonly kind: 'member'; readonly peer: PeerId }
  | { readonly kind: 'guest'; readonly name: string; readonly peer: PeerId }
  /** Machines of a network behind a member. */
  | { readonly kind: 'route'; readonly range: Cidr }
  /** The Internet, by an exit node or egress. */
  | { readonly kind: 'exit' }

/** One question to the rules. */
export interface Question {
  readonly from: Endpoint
  readonly to: Endpoint
  readonly on: Offer
}

/** Rules that a flow must pass. */
export interface RuleLayer {
  /** `network`: the policy that an administrator signed. `own`: `--rules FILE` of the receiver. */
  readonly name: 'network' | 'own'
  readonly rules: RuleSet
}

export interface Judgement {
  readonly allowed: boolean
  /** Plain English without an end mark: `web-1 may not reach db-1 on tcp 5432: no rule allows it`. */
  readonly sentence: string
  /** The rule of each layer that allows it, counted from 0; undefined with `default: allow`, and where none does. */
  readonly rules: readonly (number | undefined)[]
}

/** @param nameOf gives what people call a member */
export function judgeQuestion(
  layers: readonly RuleLayer[],
  question: Question,
  nameOf: (peer: PeerId) => string,
): Judgement {
  const { from, to, on } = question
  const about = (verb: string) =>
    `${describeEndpoint(from, nameOf)} ${verb} ${describeEndpoint(to, nameOf)} on ${describeOffer(on)}`
  const found: (number | undefined)[] = []
  for (const { name, rules } of layers) {
    if (rules.isOpen) {
      found.push(undefined)
      continue
    }
    const at = rules.rules.findIndex((rule) => allows(rule, question))
    if (at === -1) {
      const reason = name === 'network' ? 'no rule allows it' : 'no rule of its own (--rules) allows it'
      return { allowed: false, sentence: `${about('may not reach')}: ${reason}`, rules: [] }
    }
    found.push(at)
  }
  const reasons = layers.flatMap(({ name }, at) => reasonOf(name, found[at]))
  const verb = reasons.length > 1 ? 'allow' : 'allows'
  const reason = reasons.length === 0 ? 'no rules forbid it' : `${reasons.join(' and ')} ${verb} it`
  return { allowed: true, sentence: `${about('may reach')}: ${reason}`, rules: found }
}

/** True when the rule allows the flow. */
function allows({ from, to, on }: Rule, question: Question): boolean {
  if (!holds(from, question.from) || !on.some((word) => wordAllows(word, question.on))) return false
  // who may use the Internet by exit nodes may use it by egress too
  return holds(to, question.to) || (question.on.kind === 'egress' && to.exit)
}

/** True when the list has the endpoint in it. */
export function holds(set: TermSet, end: Endpoint): boolean {
  if (set.any) return true
  switch (end.kind) {
    case 'member':
      return set.members.has(end.peer)
    case 'guest':
      return set.guests.has(guestKey(end.name, end.peer))
    case 'route':
      return set.routes.some((range) => rangeContains(range, end.range))
    case 'exit':
      return set.exit
  }
}

/** Reads an endpoint of a resolved policy; undefined for other words. */
export function parseEndpoint(text: string): Endpoint | undefined {
  const term = parseTerm(text)
  switch (term?.kind) {
    case 'member':
      return { kind: 'member', peer: term.member as PeerId }
    case 'guest':
      return { kind: 'guest', name: term.name, peer: term.member as PeerId }
    case 'route':
      return { kind: 'route', range: term.range }
    case 'exit':
      return { kind: 'exit' }
    case 'any':
    case 'group':
    case 'tag':
    case undefined:
      return undefined
  }
}

/** The opposite of `parseEndpoint`. */
export function formatEndpoint(end: Endpoint): string {
  return formatTerm(end.kind === 'member' ? { kind: 'member', member: end.peer } : termOf(end))
}

function termOf(end: Exclude<Endpoint, { kind: 'member' }>): Term {
  return end.kind === 'guest' ? { kind: 'guest', name: end.name, member: end.peer } : end
}

/** `laptop-1`, `guest phone of laptop-1`, `192.168.7.0/24`, `the Internet`. */
export function describeEndpoint(end: Endpoint, nameOf: (peer: PeerId) => string): string {
  switch (end.kind) {
    case 'member':
      return nameOf(end.peer)
    case 'guest':
      return `guest ${end.name} of ${nameOf(end.peer)}`
    case 'route':
      return end.range
    case 'exit':
      return 'the Internet'
  }
}

function reasonOf(name: RuleLayer['name'], at: number | undefined): readonly string[] {
  if (at === undefined) return []
  return [name === 'network' ? `rule ${at + 1}` : `rule ${at + 1} of its own (--rules)`]
}
