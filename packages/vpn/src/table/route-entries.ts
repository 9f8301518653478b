/**
 * Which entries of `routes` are looked at when a table is built. One member can write a hundred thousand: reading and sorting
 * all of them took two seconds at first, and half a second for each table after that. So
 * members come round robin, each with what the table has already of it and then its oldest, until there are enough.
 */
import { BUCKETS, Heap, parseProviderKey } from '@mesh/core'
import type { KeyedEntry } from '@mesh/ledger'
import { MAX_UNNAMED_ROUTES, STEP_ENTRIES } from '../limits.ts'
import { isOwnersWord, readRoute, type Route } from '../addresses/read-entry.ts'
import type { TableBuild } from './table-build.ts'
import type { TableInput } from './table-input.ts'

/** A route with the version of its entry: its owner's word for when it was claimed; also of one beside a key's owner. */
export interface DatedRoute extends Route {
  readonly version: bigint
  /** The table had it already. */
  readonly isHeld: boolean
}

interface RouteEntry extends KeyedEntry {
  readonly isHeld: boolean
}

export interface RouteEntries {
  readonly routes: readonly DatedRoute[]
  /** Some of those that were not looked at, and how many there are. */
  readonly left: readonly Route[]
  readonly leftCount: number
}

/** How many of those that are left are read, for a person to see. */
const MAX_LEFT_READ = 3

/** Chooses among the routes of live members; of those that a person named each has a share of its own. */
export function* chooseRouteEntries(input: TableInput, build: TableBuild): Generator<void, RouteEntries> {
  const named: Heap<RouteEntry>[] = []
  const others: Heap<RouteEntry>[] = []
  for (const [owner, entries] of yield* byOwner(input, build)) {
    const isNamed = input.accept.from.has(owner as Route['peer'])
    ;(isNamed ? named : others).push(new Heap(isBefore, entries))
  }
  const chosen = [...named.flatMap((heap) => roundRobin([heap])), ...roundRobin(others)]
  const heaps = [...named, ...others]
  const read = (entries: readonly RouteEntry[]) => entries.flatMap((each) => readEntry(each, input, build))
  const leftCount = heaps.reduce((sum, { size }) => sum + size, 0)
  const routes = read(chosen)
  return { routes, leftCount, left: read(roundRobin(heaps, MAX_LEFT_READ)) }
}

function isBefore(one: RouteEntry, other: RouteEntry): boolean {
  if (one.isHeld !== other.isHeld) return one.isHeld
  return one.entry.version < other.entry.version
}

/** Takes the first one of each, then the second one of each, and so on; where not all may have one more, the first of these. */
function roundRobin(heaps: readonly Heap<RouteEntry>[], most = MAX_UNNAMED_ROUTES): readonly RouteEntry[] {
  const taken: RouteEntry[] = []
  let going = heaps.filter(({ size }) => size > 0)
  while (going.length > 0 && taken.length < most) {
    const isLastRound = taken.length + going.length > most
    const round = isLastRound ? firstOf(going, most - taken.length) : going
    for (const heap of round) taken.push(heap.pop() as RouteEntry)
    going = round.filter(({ size }) => size > 0)
  }
  return taken
}

function firstOf(heaps: readonly Heap<RouteEntry>[], count: number): readonly Heap<RouteEntry>[] {
  const byFirst = new Heap<Heap<RouteEntry>>(
    (a, b) => isBefore(a.peek() as RouteEntry, b.peek() as RouteEntry),
    [...heaps],
  )
  return Array.from({ length: count }, () => byFirst.pop() as Heap<RouteEntry>)
}

function* byOwner(
  { snapshot, self, mode, held = [] }: TableInput,
  build: TableBuild,
): Generator<void, ReadonlyMap<string, RouteEntry[]>> {
  const holders = new Map<string, string>(held.map(({ range, peer }) => [range, peer]))
  const groups = new Map<string, RouteEntry[]>()
  let seen = 0
  for (const { bucket, key, entry } of told(snapshot)) {
    if (++seen % STEP_ENTRIES === 0) yield
    if (key === undefined || entry.deleted || entry.owner === self) continue
    if (!build.owners.isLive(entry.owner)) {
      build.ignore('ownerDead')
      continue
    }
    const owner = mode === 'enforce' ? entry.owner : peerIn(key, entry)
    const known = groups.get(owner)
    const each = { bucket, key, entry, isHeld: holders.get(key) === owner }
    if (known === undefined) groups.set(owner, [each])
    else known.push(each)
  }
  return groups
}

/** The entries of routers: owners of keys, and those beside them, by the network; undefined: it is about no route. */
function* told(snapshot: TableInput['snapshot']): Generator<Omit<KeyedEntry, 'key'> & { key?: string }> {
  yield* snapshot.entries(BUCKETS.routes)
  for (const { bucket, key, entry } of snapshot.entries(BUCKETS.providers)) {
    const isRoute = !entry.deleted && key.startsWith(`${BUCKETS.routes} `)
    const read = isRoute ? parseProviderKey(key) : undefined
    yield read === undefined ? { bucket, entry } : { bucket, key: read.name, entry }
  }
}

/** Where entries are not their owners' alone, they count for whom they name. */
function peerIn(key: string, entry: KeyedEntry['entry']): string {
  const route = readRoute(key, entry)
  return typeof route === 'string' ? entry.owner : route.peer
}

function readEntry(
  { key, entry, isHeld }: RouteEntry,
  { self, mode }: TableInput,
  build: TableBuild,
): readonly DatedRoute[] {
  const route = readRoute(key, entry)
  if (typeof route === 'string') build.ignore(route)
  else if (route.peer === self) return []
  else if (!isOwnersWord(route.peer, entry, mode)) build.ignore('ownerMismatch')
  else return [{ ...route, version: entry.version, isHeld }]
  return []
}
