/** Reads from the ledger what rules need to know of members: addresses, guests, routes, and whether they are exits. */
import {
  BUCKETS,
  type Cidr,
  createMemo,
  type IpAddress,
  machineRecord,
  type PeerId,
  tryParseAddressInRange,
  tryParseIp,
  tryParsePeerId,
} from '@mesh/core'
import type { Entry, KeyedEntry, Snapshot } from '@mesh/ledger'
import type { NamedMember } from './resolve-policy.ts'

/** A member as rules see it. */
export interface RuledMember extends NamedMember {
  readonly addresses: readonly IpAddress[]
  readonly guests: readonly RuledGuest[]
  /** The networks that it advertises. */
  readonly routes: readonly Cidr[]
  /** True when it sends others' packets or requests on to the Internet. */
  readonly isExit: boolean
}

/** A guest of a member and its addresses, of IPv4 and perhaps IPv6. */
export interface RuledGuest {
  readonly name: string
  readonly addresses: readonly IpAddress[]
}

interface Machine {
  readonly address: IpAddress
  readonly hostname: string
  readonly isGuest: boolean
  readonly isExit: boolean
}

interface Draft {
  name: string
  isExit: boolean
  readonly addresses: IpAddress[]
  readonly guests: Map<string, IpAddress[]>
  readonly routes: Cidr[]
}

/** The longest record that is read, in characters; ours have about 200. */
const MAX_RECORD_LENGTH = 4_096

/** Entries never change: each is read once, however often the rules are compiled. */
const machines = createMemo<Entry, Machine | null>()

/** Gives the members that have anything in the buckets `machines`, `routes` or `egress`, by peer id. */
export function readRuledMembers(snapshot: Pick<Snapshot, 'entries'>): ReadonlyMap<string, RuledMember> {
  const drafts = new Map<string, Draft>()
  for (const keyed of snapshot.entries(BUCKETS.machines)) addMachine(drafts, keyed)
  for (const { key, entry } of snapshot.entries(BUCKETS.routes)) {
    const route = entry.deleted ? undefined : tryParseAddressInRange(key)
    if (route !== undefined) draftOf(drafts, ownerOf(entry))?.routes.push(route.range)
  }
  for (const { key, entry } of snapshot.entries(BUCKETS.egress)) {
    const draft = entry.deleted ? undefined : draftOf(drafts, key)
    if (draft !== undefined) draft.isExit = true
  }
  return new Map([...drafts].map(([peer, draft]) => [peer, finish(peer as PeerId, draft)]))
}

function addMachine(drafts: Map<string, Draft>, { key, entry }: KeyedEntry): void {
  if (entry.deleted) return
  let machine = machines.get(entry)
  if (machine === undefined) machines.set(entry, (machine = readMachine(key, entry)))
  const draft = machine === null ? undefined : draftOf(drafts, ownerOf(entry))
  if (machine === null || draft === undefined) return
  const { address, hostname, isGuest, isExit } = machine
  if (!isGuest) {
    draft.addresses.push(address)
    draft.isExit ||= isExit
    if (draft.name === '') draft.name = hostname
    return
  }
  const known = draft.guests.get(hostname)
  if (known === undefined) draft.guests.set(hostname, [address])
  else known.push(address)
}

function draftOf(drafts: Map<string, Draft>, owner: string): Draft | undefined {
  const known = drafts.get(owner)
  if (known !== undefined) return known
  if (tryParsePeerId(owner) === undefined) return undefined
  const draft: Draft = { name: '', isExit: false, addresses: [], guests: new Map(), routes: [] }
  drafts.set(owner, draft)
  return draft
}

/** Who signed an entry, or for an unsigned one of a legacy member whom its record names. */
function ownerOf(entry: Entry): string {
  return entry.owner === '' ? (recordIn(entry)?.PeerID ?? '') : entry.owner
}

function readMachine(key: string, entry: Entry): Machine | null {
  const address = tryParseIp(key)
  const record = recordIn(entry)
  if (address === undefined || record === undefined) return null
  const exit = record['Exit']
  return {
    address,
    hostname: record.Hostname.slice(0, 255),
    isGuest: record['Guest'] === true,
    isExit: Array.isArray(exit) && exit.length > 0,
  }
}

function recordIn({ value }: Entry) {
  if (value.length > MAX_RECORD_LENGTH) return undefined
  try {
    return machineRecord.safeParse(JSON.parse(value)).data
  } catch {
    return undefined
  }
}

function finish(peer: PeerId, { guests, ...draft }: Draft): RuledMember {
  return { peer, ...draft, guests: [...guests].map(([name, addresses]) => ({ name, addresses })) }
}
