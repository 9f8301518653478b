/**
 * Builds the names that nobody has to register, from the ledger at `now`.
 *
 * 1. Machines by peer, and guests.
 * 2. The name `HOST-SHORTID` of each, and the plain `HOST` of its first claimant.
 * 3. Services, reverse names and the zone's own names.
 *
 * All nodes build the same names. The work comes in short steps: a ledger may hold tens of thousands of machines.
 */
import {
  BUCKETS,
  type Cidr,
  cidrContains,
  Heap,
  type IpAddress,
  parseProviderKey,
  shortPeerId,
} from '@mesh/core'
import type { Entry, Owners, OwnershipMode, Snapshot } from '@mesh/ledger'
import {
  MAX_FURTHER_PROVIDERS,
  MAX_NAMED_ENTRIES,
  NEGATIVE_TTL_S,
  RECORD_TTL_S,
  STEP_ENTRIES,
} from '../limits.ts'
import { isUnder, labelOf } from '../names.ts'
import { reverseName, reverseZones } from '../reverse-names.ts'
import { TYPE } from '../record-types.ts'
import { readMachine, readService } from './read-entries.ts'
import { type DnsRecord, encodeRecordData, encodeSoa } from './record-data.ts'

/** Names that no machine can have: the folder of services, and the servers of the zone. */
const RESERVED_LABELS = new Set(['svc', 'ns'])

/** Names are made of this: the ledger at one moment, and which addresses count. */
export interface NamesInput {
  readonly snapshot: Pick<Snapshot, 'entries' | 'isOwnerLive' | 'head'>
  readonly mode: OwnershipMode
  /** The present time, in unix ms. */
  readonly now: number
  readonly livenessMs: number
  /** This node's peer id; its machine has the name `ns` in the zone. */
  readonly self: string
  /** The zone of automatic names, with a trailing dot: `mesh.` */
  readonly zone: string
  /** The ranges whose addresses are answered; others could be anybody's. */
  readonly hostRanges: readonly Cidr[]
  /** Ranges of the VPN: their reverse names are this network's alone. */
  readonly ownRanges: readonly Cidr[]
}

export interface ZoneName {
  readonly kind: 'machine' | 'service' | 'reverse' | 'zone'
  /** Made when somebody asks for them first: of most names nobody ever does. */
  readonly records: readonly DnsRecord[]
  /** Whose name it is; '' for the zone's own. */
  readonly peer: string
  /** Other machines or services that would have it. */
  readonly losers: readonly ZoneLoser[]
}

interface ZoneLoser {
  readonly peer: string
  /** The name that it has instead; '' for none. */
  readonly name: string
}

export interface Zone {
  readonly names: ReadonlyMap<string, ZoneName>
  /** The zone of automatic names, with its SOA in `soas`. */
  readonly zone: string
  /** Names between the zones of reverse names and the names there, such as `0.10.in-addr.arpa.`, which have no records. */
  readonly between: ReadonlySet<string>
  /** SOA by zone: what lies under one of these is answered here or nowhere. */
  readonly soas: ReadonlyMap<string, DnsRecord>
}

/** The names while they are made. */
type Names = Map<string, LazyName>

class LazyName implements ZoneName {
  readonly kind: ZoneName['kind']
  readonly peer: string
  readonly losers: ZoneLoser[] = []
  /** The machine of whose addresses the records are; undefined for names of other kinds. */
  readonly machine: Machine | undefined
  readonly #make: () => readonly DnsRecord[]
  #records: readonly DnsRecord[] | undefined

  constructor(kind: ZoneName['kind'], peer: string, make: () => readonly DnsRecord[], machine?: Machine) {
    this.kind = kind
    this.peer = peer
    this.machine = machine
    this.#make = make
  }

  get records(): readonly DnsRecord[] {
    return (this.#records ??= this.#make())
  }
}

interface Machine {
  readonly peer: string
  /** The first label of what it calls itself; '' when nothing of that can be a name. */
  readonly host: string
  readonly addresses: IpAddress[]
  /** True for a guest: a machine of its own, for which the peer carries. */
  readonly guest: boolean
  /** The version of its oldest entry, which says who claimed the name first. */
  version: bigint
  /** `HOST-SHORTID`, or only the id when it has no usable name. */
  label: string
}

/** @param owners asked for whoever is named, so that it can tell until when the zone holds */
export function* zoneSteps(input: NamesInput, owners: Owners): Generator<void, Zone> {
  const machines = yield* readMachines(input, owners)
  const names: Names = new Map()
  const serial = input.snapshot.head.index
  const soas = new Map<string, DnsRecord>()
  for (const zone of zonesOf(input)) {
    const data = encodeSoa(zone, serial, NEGATIVE_TTL_S)
    soas.set(zone, { name: zone, type: TYPE.SOA, ttl: NEGATIVE_TTL_S, data, text: soaText(zone, serial) })
  }
  nameZones(names, soas, input, machines)
  yield* nameMachines(names, input, machines)
  const between = yield* nameAddresses(names, { zone: input.zone, soas }, machines)
  yield* nameServices(names, input, owners, machines)
  return { names, between, zone: input.zone, soas }
}

/** Lists the zones that are answered here or nowhere: that of automatic names, and those of reverse names. */
export function zonesOf({ zone, ownRanges }: Pick<NamesInput, 'zone' | 'ownRanges'>): readonly string[] {
  return [...new Set([zone, ...ownRanges.flatMap(reverseZones)])]
}

/** The SOA of the smallest zone of ours that holds the name; undefined when it is not ours. */
export function soaOf(zone: Zone, name: string): DnsRecord | undefined {
  let found: DnsRecord | undefined
  for (const [own, soa] of zone.soas) {
    if (isUnder(name, own) && own.length > (found?.name.length ?? 0)) found = soa
  }
  return found
}

function* readMachines(input: NamesInput, owners: Owners): Generator<void, readonly Machine[]> {
  const byPeer = new Map<string, Machine>()
  let [count, seen] = [0, 0]
  for (const { key, entry } of input.snapshot.entries(BUCKETS.machines)) {
    if (++seen % STEP_ENTRIES === 0) yield
    if (entry.deleted || ++count > MAX_NAMED_ENTRIES) continue
    const read = readMachine(key, entry, input.mode)
    if (read === undefined || !owners.isLive(ownerOf(entry, read.peer))) continue
    if (!input.hostRanges.some((range) => cidrContains(range, read.address))) continue
    const host = hostLabel(read.hostname)
    const id = read.guest ? `${read.peer}/${host}` : read.peer
    const known = byPeer.get(id)
    if (known === undefined) {
      const { peer, guest, address } = read
      const label = idLabel(host, peer)
      byPeer.set(id, { peer, guest, host, addresses: [address], version: entry.version, label })
    } else {
      known.addresses.push(read.address)
      if (entry.version < known.version) known.version = entry.version
    }
  }
  const waiting = new Heap((a, b) => byClaim(a, b) < 0, [...byPeer.values()])
  const sorted: Machine[] = []
  for (let next = waiting.pop(); next !== undefined; next = waiting.pop()) {
    if (sorted.push(next) % STEP_ENTRIES === 0) yield
  }
  return sorted
}

/** The owner of an entry; with ownership `off` entries have none, and the peer of the record counts. */
function ownerOf(entry: Entry, peer: string): string {
  return entry.owner === '' ? peer : entry.owner
}

/** Guests after those who are there themselves; the older claim first; of two as old, the smaller peer id. */
function byClaim(a: Machine, b: Machine): number {
  if (a.guest !== b.guest) return a.guest ? 1 : -1
  if (a.version !== b.version) return a.version < b.version ? -1 : 1
  return a.peer < b.peer ? -1 : 1
}

/** `laptop-1a2b3c4d`: the end of the peer id, which no two machines share by chance. */
function idLabel(host: string, peer: string): string {
  const id = labelOf(shortPeerId(peer))
  const first = host.slice(0, 63 - id.length - 1)
  return first === '' ? id : `${first}-${id}`
}

/** A machine that calls itself `laptop.example.com` is `laptop` here. */
function hostLabel(hostname: string): string {
  return labelOf(hostname.split('.')[0] ?? '')
}

function* nameMachines(names: Names, { zone }: NamesInput, machines: readonly Machine[]): Generator<void> {
  // these first, so that nobody takes them by calling itself so
  let seen = 0
  for (const machine of machines) {
    if (++seen % STEP_ENTRIES === 0) yield
    const name = `${machine.label}.${zone}`
    if (!names.has(name)) names.set(name, nameOfMachine(name, machine))
  }
  for (const machine of machines) {
    if (++seen % STEP_ENTRIES === 0) yield
    const { host, peer, label } = machine
    if (host === '' || RESERVED_LABELS.has(host)) continue
    const name = `${host}.${zone}`
    const holder = names.get(name)
    if (holder === undefined) names.set(name, nameOfMachine(name, machine))
    else if (holder.machine?.host === host) holder.losers.push({ peer, name: `${label}.${zone}` })
  }
}

/** Gives the names between the zones of reverse names and the names there. */
function* nameAddresses(
  names: Names,
  { zone, soas }: Pick<Zone, 'zone' | 'soas'>,
  machines: readonly Machine[],
): Generator<void, ReadonlySet<string>> {
  const between = new Set<string>()
  let seen = 0
  for (const machine of machines) {
    const { peer, host, label, addresses } = machine
    const plain = `${host}.${zone}`
    const target = names.get(plain)?.machine === machine ? plain : `${label}.${zone}`
    for (const address of addresses) {
      if (++seen % STEP_ENTRIES === 0) yield
      const name = reverseName(address)
      if (names.has(name)) continue
      names.set(name, new LazyName('reverse', peer, () => recordsOf(name, [[TYPE.PTR, target]])))
      addBetween(between, name, soas)
    }
  }
  return between
}

/** The zones of reverse names have many labels that are no names of their own. */
function addBetween(between: Set<string>, name: string, soas: Zone['soas']): void {
  for (let at = name.indexOf('.') + 1; at > 0; at = name.indexOf('.', at) + 1) {
    const parent = name.slice(at)
    if (soas.has(parent) || between.has(parent)) return
    if (![...soas.keys()].some((apex) => isUnder(parent, apex))) return
    between.add(parent)
  }
}

function* nameServices(
  names: Names,
  input: NamesInput,
  owners: Owners,
  machines: readonly Machine[],
): Generator<void> {
  const byPeer = new Map(machines.flatMap((each) => (each.guest ? [] : [[each.peer, each] as const])))
  const further = yield* furtherProviders(input, owners)
  let [count, seen] = [0, 0]
  for (const { key, entry } of input.snapshot.entries(BUCKETS.services)) {
    if (++seen % STEP_ENTRIES === 0) yield
    if (entry.deleted || ++count > MAX_NAMED_ENTRIES) continue
    const peer = readService(entry, input.mode)
    const label = labelOf(key)
    if (peer === undefined || label === '' || !owners.isLive(ownerOf(entry, peer))) continue
    const name = `${label}.svc.${input.zone}`
    const known = names.get(name)
    const records = () =>
      [peer, ...(further.get(key) ?? [])].flatMap((each) => {
        const machine = byPeer.get(each)
        return machine === undefined ? [] : addressRecords(name, machine)
      })
    // two services whose names make the same label: the first in the ledger's order has it
    if (known === undefined) names.set(name, new LazyName('service', peer, records))
    else known.losers.push({ peer, name: '' })
  }
}

/** The live members that offer a service beside the owner of its name, by that name; some of them. */
function* furtherProviders(
  { snapshot }: NamesInput,
  owners: Owners,
): Generator<void, ReadonlyMap<string, readonly string[]>> {
  const found = new Map<string, string[]>()
  let [count, seen] = [0, 0]
  for (const { key, entry } of snapshot.entries(BUCKETS.providers)) {
    if (++seen % STEP_ENTRIES === 0) yield
    if (entry.deleted || !key.startsWith(`${BUCKETS.services} `) || ++count > MAX_NAMED_ENTRIES) continue
    const read = parseProviderKey(key)
    if (read === undefined || !owners.isLive(ownerOf(entry, read.peer))) continue
    const peers = found.get(read.name)
    if (peers === undefined) found.set(read.name, [read.peer])
    else if (peers.length < MAX_FURTHER_PROVIDERS) peers.push(read.peer)
  }
  return found
}

/** The apexes with SOA and NS, `svc`, which only has names under it, and the server's own name. */
function nameZones(
  names: Names,
  soas: ReadonlyMap<string, DnsRecord>,
  { zone, self }: NamesInput,
  machines: readonly Machine[],
): void {
  const server = `ns.${zone}`
  const own = machines.find(({ peer, guest }) => peer === self && !guest)
  const add = (name: string, records: readonly DnsRecord[]) =>
    names.set(name, new LazyName('zone', '', () => records))
  for (const [apex, soa] of soas) add(apex, [soa, ...recordsOf(apex, [[TYPE.NS, server]])])
  add(`svc.${zone}`, [])
  names.set(server, new LazyName('zone', '', () => (own ? addressRecords(server, own) : []), own))
}

function nameOfMachine(name: string, machine: Machine): LazyName {
  return new LazyName('machine', machine.peer, () => addressRecords(name, machine), machine)
}

function addressRecords(name: string, { addresses }: Machine): readonly DnsRecord[] {
  return recordsOf(
    name,
    addresses.map((address) => [address.includes(':') ? TYPE.AAAA : TYPE.A, address] as const),
  )
}

function recordsOf(name: string, values: readonly (readonly [number, string])[]): readonly DnsRecord[] {
  return values.flatMap(([type, text]) => {
    const data = encodeRecordData(type, text)
    return data === undefined ? [] : [{ name, type, ttl: RECORD_TTL_S, data, text }]
  })
}

function soaText(zone: string, serial: number): string {
  return `ns.${zone} hostmaster.${zone} ${serial} 60 30 3600 ${NEGATIVE_TTL_S}`
}
