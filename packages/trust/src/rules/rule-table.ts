/** Lists who reaches what by some rules: pairs, their words of `on:`, and what a change gives or takes. Pure. */
import { MAX_ENDPOINT_CLASSES } from '../limits.ts'
import { type Endpoint, holds, type RuleLayer } from './judge.ts'
import type { TermSet } from './rule-set.ts'

/** Endpoints that the rules treat alike, and what each of them reaches. */
export interface ReachRow {
  readonly from: readonly Endpoint[]
  readonly to: readonly Endpoint[]
  /** Words of `on:`; `['*']` for everything. */
  readonly on: readonly string[]
}

/** The change for the endpoints of a row. */
export interface ReachChange extends Omit<ReachRow, 'on'> {
  readonly before: readonly string[]
  readonly after: readonly string[]
}

interface EndpointClass {
  readonly members: Endpoint[]
}

interface ReachTable<Row> {
  readonly rows: readonly Row[]
  /** True when there are more kinds of endpoints than are compared. */
  readonly isCut: boolean
}

/** Rows with nothing in `on` are left out. */
export function buildReachTable(
  layer: RuleLayer | undefined,
  endpoints: Iterable<Endpoint>,
): ReachTable<ReachRow> {
  const { classes, isCut } = classify(endpoints, [layer])
  const words = createLookup(layer, classes)
  const rows = pairsOf(classes).flatMap(({ from, to }) => {
    const on = words(from, to)
    return on.length === 0 ? [] : [{ from: from.members, to: to.members, on }]
  })
  return { rows: rows.filter(isPair), isCut }
}

/** Lists the changes when one policy comes in the place of another. */
export function compareRules(
  before: RuleLayer | undefined,
  after: RuleLayer | undefined,
  endpoints: Iterable<Endpoint>,
): ReachTable<ReachChange> {
  const { classes, isCut } = classify(endpoints, [before, after])
  const [wordsBefore, wordsAfter] = [createLookup(before, classes), createLookup(after, classes)]
  const rows = pairsOf(classes).flatMap(({ from, to }) => {
    const [old, next] = [wordsBefore(from, to), wordsAfter(from, to)]
    if (old.join(' ') === next.join(' ')) return []
    return [{ from: from.members, to: to.members, before: old, after: next }]
  })
  return { rows: rows.filter(isPair), isCut }
}

/** The words of `on:` on which an endpoint reaches another one. */
export function wordsFor(layer: RuleLayer | undefined, from: Endpoint, to: Endpoint): readonly string[] {
  return wordsBetween(layer, rulesWith(layer, 'from', from), new Set(rulesWith(layer, 'to', to)))
}

/** One endpoint alone, and itself as the other end, are no pair. */
function isPair({ from, to }: { from: readonly Endpoint[]; to: readonly Endpoint[] }): boolean {
  const [first, second] = [from[0], to[0]]
  return from.length > 1 || to.length > 1 || first !== second
}

function pairsOf(classes: readonly EndpointClass[]) {
  const targets = classes
  const sources = classes.filter(({ members: [first] }) => first?.kind !== 'exit')
  return sources.flatMap((from) => targets.map((to) => ({ from, to })))
}

/** @param toRules the rules that hold the target, by their place */
function wordsBetween(
  layer: RuleLayer | undefined,
  fromRules: readonly number[],
  toRules: ReadonlySet<number>,
): readonly string[] {
  if (layer === undefined || layer.rules.isOpen) return ['*']
  const words = new Set<string>()
  for (const at of fromRules) {
    if (toRules.has(at)) for (const word of layer.rules.rules[at]?.words ?? []) words.add(word)
  }
  return words.has('*') ? ['*'] : [...words].sort()
}

/** The places of the rules that have the endpoint in one of their lists. */
function rulesWith(
  layer: RuleLayer | undefined,
  list: 'from' | 'to',
  end: Endpoint | undefined,
): readonly number[] {
  const rules = layer?.rules.rules ?? []
  return rules.flatMap((rule, at) => (end !== undefined && holds(rule[list], end) ? [at] : []))
}

/** Gives the words between any two of some classes, each class looked up once. */
function createLookup(layer: RuleLayer | undefined, classes: readonly EndpointClass[]) {
  const sources = new Map(classes.map((each) => [each, rulesWith(layer, 'from', each.members[0])]))
  const targets = new Map(classes.map((each) => [each, new Set(rulesWith(layer, 'to', each.members[0]))]))
  return (from: EndpointClass, to: EndpointClass) =>
    wordsBetween(layer, sources.get(from) ?? [], targets.get(to) ?? new Set())
}

/** Endpoints that are in the same lists are one class: what holds for one of them holds for all. */
function classify(endpoints: Iterable<Endpoint>, layers: readonly (RuleLayer | undefined)[]) {
  const lists = [...new Set(layers.flatMap((layer) => listsOf(layer)))]
  const classes = new Map<string, EndpointClass>()
  let isCut = false
  for (const endpoint of endpoints) {
    const key = `${endpoint.kind} ${lists.map((list) => (holds(list, endpoint) ? '1' : '0')).join('')}`
    const known = classes.get(key)
    if (known !== undefined) known.members.push(endpoint)
    else if (classes.size < MAX_ENDPOINT_CLASSES) classes.set(key, { members: [endpoint] })
    else isCut = true
  }
  return { classes: [...classes.values()], isCut }
}

function listsOf(layer: RuleLayer | undefined): readonly TermSet[] {
  return layer?.rules.rules.flatMap(({ from, to }) => [from, to]) ?? []
}
