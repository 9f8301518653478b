/** Says who answers a question and why, and why not the others: for people who test a name. */
import { whereOf } from './forwarder/exchange.ts'
import type { ForwardServer } from './forwarder/servers.ts'
import type { Names } from './known-names.ts'
import type { SkipReason } from './patterns/pattern-matcher.ts'
import type { Candidate } from './patterns/pattern-set.ts'
import { type Question, type Resolution, resolve, type Source } from './resolver.ts'
import { recordDataOf } from './zone/read-entries.ts'
import type { DnsRecord } from './zone/record-data.ts'

export interface NameExplanation {
  readonly name: string
  /** Number of the record type, 1 for A. */
  readonly type: number
  /** Number of the response code, 0 for NOERROR; undefined where another server's answer is passed on. */
  readonly rcode: number | undefined
  readonly records: readonly Pick<DnsRecord, 'name' | 'type' | 'ttl' | 'text'>[]
  readonly source: 'machine' | 'service' | 'reverse' | 'zone' | 'pattern' | 'forwarder' | 'nobody'
  /** Pattern or name that wins, and who wrote it; undefined without one. */
  readonly winner: { readonly name: string; readonly owner: string } | undefined
  /** Others that match, the strongest first. */
  readonly losers: readonly Loser[]
  /** Who would be asked, `ADDRESS:PORT`. */
  readonly servers: readonly string[]
}

export interface Loser {
  readonly name: string
  readonly owner: string
  readonly reason: LoserReason
}

/**
 * `automatic_name`: the name is a machine's or a service's, which no pattern takes. `weaker`: another pattern is
 * stronger. `no_such_type`: it has no value of the type. `bad_value`: its value cannot be read. `bad_syntax`: no RE2
 * expression. `too_complex`, `too_many`: costs too much to be tried. `later_claim`: another had the name before.
 */
export type LoserReason =
  | 'automatic_name'
  | 'weaker'
  | 'no_such_type'
  | 'bad_value'
  | 'later_claim'
  | SkipReason

export interface ExplainView {
  readonly names: Names
  readonly domainOf: (name: string) => string | undefined
  readonly servers: readonly ForwardServer[]
}

/** Undefined: not all patterns have been tried yet. */
export function explainName(question: Question, view: ExplainView): NameExplanation | undefined {
  const { names, domainOf } = view
  const resolution = resolve(question, { zone: names.zone, match: names.match, forwards: domainOf })
  const found = names.match(question.name)
  if (resolution.kind === 'pending' || found === undefined) return undefined
  const losers = [
    ...losersOf(question, found.matches, resolution),
    ...found.skipped.map(([candidate, reason]) => loser(candidate, reason)),
  ]
  const common = { name: question.name, type: question.type, losers }
  if (resolution.kind !== 'answer') return { ...common, ...elsewhere(resolution, view) }
  const { rcode, answers, source, follow } = resolution
  const domain = follow === undefined ? undefined : domainOf(follow.name)
  return {
    ...common,
    rcode,
    records: answers.map(({ name, type, ttl, text }) => ({ name, type, ttl, text })),
    source: sourceOf(source),
    winner: winnerOf(source, question.name),
    losers: [...zoneLosers(source), ...losers],
    servers: domain === undefined ? [] : serversOf(domain, view),
  }
}

type Elsewhere = Omit<NameExplanation, 'name' | 'type' | 'losers'>

function elsewhere(
  resolution: Extract<Resolution, { kind: 'forward' | 'refused' }>,
  view: ExplainView,
): Elsewhere {
  const none = { records: [], winner: undefined } as const
  if (resolution.kind === 'refused') return { ...none, rcode: 5, source: 'nobody', servers: [] }
  return { ...none, rcode: undefined, source: 'forwarder', servers: serversOf(resolution.domain, view) }
}

function serversOf(domain: string, { servers }: ExplainView): readonly string[] {
  return servers.filter((server) => server.domain === domain).map(whereOf)
}

function sourceOf(source: Source): NameExplanation['source'] {
  return source.from === 'zone' ? source.name.kind : source.from
}

function winnerOf(source: Source, name: string): NameExplanation['winner'] {
  if (source.from === 'pattern') return { name: source.winner.entry.source, owner: source.winner.entry.owner }
  return source.from === 'zone' ? { name, owner: source.name.peer } : undefined
}

function zoneLosers(source: Source): readonly Loser[] {
  if (source.from !== 'zone') return []
  return source.name.losers.map(({ name, peer }) => ({ name, owner: peer, reason: 'later_claim' as const }))
}

function losersOf(
  question: Question,
  matches: readonly Candidate[],
  resolution: Resolution,
): readonly Loser[] {
  const source = resolution.kind === 'answer' ? resolution.source : undefined
  const winner = source?.from === 'pattern' ? source.winner : undefined
  return matches
    .filter((candidate) => candidate !== winner)
    .map((candidate) => {
      if (source?.from === 'zone') return loser(candidate, 'automatic_name')
      const { records } = candidate.entry
      if (!records.has(question.type)) return loser(candidate, 'no_such_type')
      return loser(candidate, recordDataOf(records, question.type) === undefined ? 'bad_value' : 'weaker')
    })
}

function loser({ entry }: Candidate, reason: LoserReason): Loser {
  return { name: entry.source, owner: entry.owner, reason }
}
