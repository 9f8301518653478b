/**
 * The names that nobody has to register, from the ledger as it is at `now`: 1 the machines by peer, and guests; 2 the name of
 * each, `HOST-SHORTID`, and the plain `HOST` of whoever claimed it first; 3 services; 4 reverse names; 5 the zone's
 * own. All nodes come to the same names.
 */
import { BUCKETS, cidrContains, type IpAddress, shortPeerId } from '@mesh/core'
import { createOwners, type Entry, type Owners } from '@mesh/ledger'
import { MAX_NAMED_ENTRIES, NEGATIVE_TTL_S, RECORD_TTL_S } from '../limits.ts'
import { isUnder, labelOf } from '../names.ts'
import { reverseName, reverseZones } from '../reverse-names.ts'
import { TYPE } from '../record-types.ts'
import type { NamesInput } from './names-input.ts'
import { readMachine, readService } from './read-entries.ts'
import { type DnsRecord, encodeRecordData, encodeSoa } from './record-data.ts'

/** Names that no machine can have: the folder of services, and the servers of the zone. */
const RESERVED_LABELS = new Set(['svc', 'ns'])

export interface ZoneName {
  readonly kind: 'machine' | 'service' | 'reverse' | 'zone'
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
  /** SOA by zone: what lies under one of these is answered here or nowhere. */
  readonly soas: ReadonlyMap<string, DnsRecord>
}

interface Machine {
  readonly peer: string
  readonly hostname: string
  readonly addresses: IpAddress[]
  /** True for a guest: a machine of its own, for which the peer carries. */
  readonly guest: boolean
  /** The version of its oldest entry, which says who claimed the name first. */
  version: bigint
  /** `HOST-SHORTID`, or only the id when it has no usable name. */
  label: string
}

/** @param owners asked for whoever is named, so that it can tell until when the zone holds */
export function buildZone(input: NamesInput, owners: Owners): Zone {
  const machines = readMachines(input, owners)
  const names = new Map<string, ZoneName>()
  const serial = input.snapshot.head.index
  const soas = new Map<string, DnsRecord>()
  for (const zone of [input.zone, ...input.ownRanges.flatMap(reverseZones)]) {
    const data = encodeSoa(zone, serial, NEGATIVE_TTL_S)
    soas.set(zone, { name: zone, type: TYPE.SOA, ttl: NEGATIVE_TTL_S, data, text: soaText(zone, serial) })
  }
  nameZones(names, soas, input, machines)
  nameMachines(names, input, machines)
  nameServices(names, input, owners, machines)
  return { names, zone: input.zone, soas }
}

/** The SOA of the smallest zone of ours that holds the name; undefined when it is not ours. */
export function soaOf(zone: Zone, name: string): DnsRecord | undefined {
  let found: DnsRecord | undefined
  for (const [own, soa] of zone.soas) {
    if (isUnder(name, own) && own.length > (found?.name.length ?? 0)) found = soa
  }
  return found
}

function readMachines(input: NamesInput, owners: Owners): readonly Machine[] {
  const byPeer = new Map<string, Machine>()
  let count = 0
  for (const { key, entry } of input.snapshot.entries(BUCKETS.machines)) {
    if (entry.deleted || ++count > MAX_NAMED_ENTRIES) continue
    const read = readMachine(key, entry, input.mode)
    if (read === undefined || !owners.isLive(ownerOf(entry, read.peer))) continue
    if (!input.hostRanges.some((range) => cidrContains(range, read.address))) continue
    const id = read.guest ? `${read.peer}/${hostLabel(read.hostname)}` : read.peer
    const known = byPeer.get(id)
    if (known === undefined) {
      const label = idLabel(read.hostname, read.peer)
      byPeer.set(id, { ...read, addresses: [read.address], version: entry.version, label })
    } else {
      known.addresses.push(read.address)
      if (entry.version < known.version) known.version = entry.version
    }
  }
  return [...byPeer.values()].sort(byClaim)
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
function idLabel(hostname: string, peer: string): string {
  const id = labelOf(shortPeerId(peer))
  const host = hostLabel(hostname).slice(0, 63 - id.length - 1)
  return host === '' ? id : `${host}-${id}`
}

/** A machine that calls itself `laptop.example.com` is `laptop` here. */
function hostLabel(hostname: string): string {
  return labelOf(hostname.split('.')[0] ?? '')
}

function nameMachines(names: Map<string, ZoneName>, input: NamesInput, machines: readonly Machine[]): void {
  const named = (machine: Machine, label: string, losers: readonly ZoneLoser[]) => {
    const name = `${label}.${input.zone}`
    names.set(name, { kind: 'machine', peer: machine.peer, records: addressRecords(name, machine), losers })
    return name
  }
  // these first, so that nobody takes them by calling itself so
  for (const machine of machines) {
    const name = `${machine.label}.${input.zone}`
    if (!names.has(name)) named(machine, machine.label, [])
  }
  const byHost = Map.groupBy(machines, ({ hostname }) => hostLabel(hostname))
  for (const [host, [first, ...others]] of byHost) {
    const isFree = host !== '' && !RESERVED_LABELS.has(host) && !names.has(`${host}.${input.zone}`)
    if (first === undefined || !isFree) continue
    const losers = others.map(({ peer, label }) => ({ peer, name: `${label}.${input.zone}` }))
    named(first, host, losers)
  }
  nameAddresses(names, input, machines)
}

function nameAddresses(
  names: Map<string, ZoneName>,
  { zone }: NamesInput,
  machines: readonly Machine[],
): void {
  for (const { peer, hostname, label, addresses } of machines) {
    const plain = `${hostLabel(hostname)}.${zone}`
    const isHolder = names.get(plain)?.records.some(({ text }) => addresses.some((own) => own === text))
    const target = isHolder === true ? plain : `${label}.${zone}`
    for (const address of addresses) {
      const name = reverseName(address)
      if (names.has(name)) continue
      names.set(name, { kind: 'reverse', peer, records: recordsOf(name, [[TYPE.PTR, target]]), losers: [] })
    }
  }
}

function nameServices(
  names: Map<string, ZoneName>,
  input: NamesInput,
  owners: Owners,
  machines: readonly Machine[],
): void {
  const byPeer = new Map(machines.flatMap((each) => (each.guest ? [] : [[each.peer, each] as const])))
  let count = 0
  for (const { key, entry } of input.snapshot.entries(BUCKETS.services)) {
    if (entry.deleted || ++count > MAX_NAMED_ENTRIES) continue
    const peer = readService(entry, input.mode)
    const label = labelOf(key)
    if (peer === undefined || label === '' || !owners.isLive(ownerOf(entry, peer))) continue
    const name = `${label}.svc.${input.zone}`
    const known = names.get(name)
    const machine = byPeer.get(peer)
    const records = machine === undefined ? [] : addressRecords(name, machine)
    // two services whose names make the same label: the first in the ledger's order has it
    if (known === undefined) names.set(name, { kind: 'service', peer, records, losers: [] })
    else names.set(name, { ...known, losers: [...known.losers, { peer, name: '' }] })
  }
}

/** The apexes with SOA and NS, `svc`, which only has names under it, and the server's own name. */
function nameZones(
  names: Map<string, ZoneName>,
  soas: ReadonlyMap<string, DnsRecord>,
  { zone, self }: NamesInput,
  machines: readonly Machine[],
): void {
  const server = `ns.${zone}`
  const own = machines.find(({ peer, guest }) => peer === self && !guest)
  const add = (name: string, records: readonly DnsRecord[]) =>
    names.set(name, { kind: 'zone', peer: '', records, losers: [] })
  for (const [apex, soa] of soas) add(apex, [soa, ...recordsOf(apex, [[TYPE.NS, server]])])
  add(`svc.${zone}`, [])
  add(server, own === undefined ? [] : addressRecords(server, own))
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

/** The time until which the ledger says the same of who is alive. */
export function createZoneOwners({ snapshot, now, livenessMs }: NamesInput): Owners {
  return createOwners({ snapshot, now, livenessMs })
}
