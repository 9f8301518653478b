/**
 * Who answers a question, in this order:
 * 1. a name that a machine, a service or an address of this network has by itself;
 * 2. the strongest of the ledger's patterns that match (`byStrength`), for the types that it has;
 * 3. nobody, when the name lies in this network's zone or among its addresses: it does not exist, or not so;
 * 4. the forwarder, by the server of the longest domain given for it, else by the servers for all else;
 * 5. nobody: refused, so that a client asks its next server.
 */
import { canonicalName } from './names.ts'
import { MAX_CNAME_CHAIN, MAX_UNREADABLE_VALUES, RECORD_TTL_S } from './limits.ts'
import type { NameMatches } from './patterns/pattern-matcher.ts'
import type { Candidate } from './patterns/pattern-set.ts'
import { RCODE, TYPE } from './record-types.ts'
import { soaOf, type Zone, type ZoneName } from './zone/build-zone.ts'
import { recordDataOf } from './zone/read-entries.ts'
import type { DnsRecord } from './zone/record-data.ts'

/** The knowledge by which a question is judged. */
export interface NamesView {
  readonly zone: Zone
  /** Undefined: not all patterns have been tried yet. */
  readonly match: (name: string) => NameMatches | undefined
  /** The domain whose servers get the name, `.` for all else; undefined: nobody does. */
  readonly forwards: (name: string) => string | undefined
}

export interface Question {
  /** The name, as `nameText` writes it. */
  readonly name: string
  readonly type: number
}

export type Resolution =
  | {
      readonly kind: 'answer'
      readonly rcode: number
      readonly answers: readonly DnsRecord[]
      readonly authority: readonly DnsRecord[]
      readonly source: Source
      /** The end of a chain of CNAMEs, which the forwarder has to be asked for. */
      readonly follow: Question | undefined
    }
  | { readonly kind: 'forward'; readonly domain: string }
  | { readonly kind: 'refused' }
  /** To be asked again after other work. */
  | { readonly kind: 'pending' }

export type Source =
  | { readonly from: 'zone'; readonly name: ZoneName }
  | { readonly from: 'pattern'; readonly winner: Candidate }
  | { readonly from: 'nobody' }

/** Pure: the same view gives the same answer. */
export function resolve(question: Question, view: NamesView): Resolution {
  const answers: DnsRecord[] = []
  const asked = new Set<string>()
  let source: Source | undefined
  for (let at = question; ; ) {
    const found = lookUp(at, view)
    if (found === 'pending') return { kind: 'pending' }
    if (found === undefined) return elsewhere(at, { answers, source, view })
    source ??= found.source
    answers.push(...found.records)
    const [cname] = found.records
    const isAlias = cname?.type === TYPE.CNAME && question.type !== TYPE.CNAME
    if (!isAlias) return answerOf(at, { answers, source, view })
    asked.add(at.name)
    const target = targetOf(cname)
    if (target === undefined || asked.has(target) || asked.size > MAX_CNAME_CHAIN) {
      return { kind: 'answer', rcode: RCODE.SERVFAIL, answers: [], authority: [], source, follow: undefined }
    }
    at = { name: target, type: question.type }
  }
}

interface SoFar {
  readonly answers: readonly DnsRecord[]
  readonly source: Source | undefined
  readonly view: NamesView
}

/** The name exists here: with records, or with none of the type. */
function answerOf({ name }: Question, { answers, source, view }: SoFar): Resolution {
  const isEmpty = answers.length === 0 || answers.at(-1)?.type === TYPE.CNAME
  const soa = isEmpty ? (soaOf(view.zone, name) ?? view.zone.soas.get(view.zone.zone)) : undefined
  return {
    kind: 'answer',
    rcode: RCODE.NOERROR,
    answers,
    authority: soa === undefined ? [] : [soa],
    source: source ?? { from: 'nobody' },
    follow: undefined,
  }
}

/** No name of ours: it does not exist, or somebody else has it. */
function elsewhere(at: Question, { answers, source, view }: SoFar): Resolution {
  const soa = soaOf(view.zone, at.name)
  const ours = { kind: 'answer', answers, source: source ?? { from: 'nobody' } } as const
  if (soa !== undefined) {
    return { ...ours, rcode: RCODE.NXDOMAIN, authority: [soa], follow: undefined }
  }
  const domain = view.forwards(at.name)
  if (answers.length > 0) {
    // without a forwarder the client may know more than this node
    return { ...ours, rcode: RCODE.NOERROR, authority: [], follow: domain === undefined ? undefined : at }
  }
  return domain === undefined ? { kind: 'refused' } : { kind: 'forward', domain }
}

interface Found {
  readonly records: readonly DnsRecord[]
  readonly source: Source
}

function lookUp(question: Question, view: NamesView): Found | 'pending' | undefined {
  const { name, type } = question
  const named = view.zone.names.get(name)
  if (named !== undefined) {
    return {
      records: named.records.filter((record) => record.type === type),
      source: { from: 'zone', name: named },
    }
  }
  const found = view.match(name)
  if (found === undefined) return 'pending'
  return answerByPatterns(question, found.matches) ?? emptyNode(name, view)
}

/** The strongest pattern with a value that can be read, of the type or as a CNAME; else the name has no such type. */
function answerByPatterns({ name, type }: Question, matches: readonly Candidate[]): Found | undefined {
  let unreadable = 0
  for (const winner of matches) {
    if (unreadable >= MAX_UNREADABLE_VALUES) break
    for (const each of type === TYPE.CNAME ? [type] : [type, TYPE.CNAME]) {
      const text = winner.entry.records.get(each)
      if (text === undefined) continue
      const data = recordDataOf(winner.entry.records, each)
      if (data === undefined) {
        unreadable++
        continue
      }
      return {
        records: [{ name, type: each, ttl: RECORD_TTL_S, data, text }],
        source: { from: 'pattern', winner },
      }
    }
  }
  const [winner] = matches
  return winner && { records: [], source: { from: 'pattern', winner } }
}

/** A name in between, such as `0.10.in-addr.arpa.` over 10.0.0.0/24's zone, has no records and does exist. */
function emptyNode(name: string, { zone }: NamesView): Found | undefined {
  const isBetween = soaOf(zone, name) !== undefined && zone.between.has(name)
  return isBetween ? { records: [], source: { from: 'nobody' } } : undefined
}

function targetOf(cname: DnsRecord): string | undefined {
  return canonicalName(cname.text.trim())
}
