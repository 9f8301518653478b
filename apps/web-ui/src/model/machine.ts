/**
 * The machines of the network as one list: who is in the ledger, who is heard, and how each is reached from here,
 * joined from `/api/machines`, `/api/nodes` and `/api/peers`.
 */
import type { MachineView, NodeView, PeerView } from '@mesh/api-contract'
import { shortPeerId, tryParsePeerId } from '@mesh/core'
import { shownName } from './shown-name.ts'

/** How this node reaches a machine. */
export type Reach =
  /** The node that serves this page. */
  | { readonly kind: 'self' }
  | { readonly kind: 'direct'; readonly roundTripMs: number | undefined }
  | { readonly kind: 'relayed'; readonly roundTripMs: number | undefined }
  /** It announces itself, and this node has no connection to it: others pass its messages on. */
  | { readonly kind: 'indirect' }
  | { readonly kind: 'offline'; readonly lastSeen: number | undefined }

export interface Machine {
  readonly id: string
  /**
   * The name of the machine as `shownName` has it, with the short id behind it where it could be taken for another's name;
   * the short id where it has none.
   */
  readonly name: string
  readonly named: boolean
  /** Addresses in the VPN; none for a node without an interface. */
  readonly addresses: readonly string[]
  readonly reach: Reach
  /** Empty where not known, in Go's names: `linux`, `amd64`. */
  readonly os: string
  readonly arch: string
  /** The version of mesh, or the name of other software. */
  readonly version: string
  /** This node's knowledge of the connection; undefined for itself and for who was never met. */
  readonly peer: PeerView | undefined
}

export interface MachineSources {
  readonly self: string
  /** Version of mesh that runs here. */
  readonly selfVersion: string
  /** The name of this node; empty where it has no name. */
  readonly selfName?: string
  readonly nodes: readonly NodeView[]
  readonly machines: readonly MachineView[]
  readonly peers: readonly PeerView[]
}

/** Sorted by name, this node first. Peers that are no members (found in the DHT, say) are left out. */
export function buildMachines({
  self,
  selfVersion,
  selfName = '',
  nodes,
  machines,
  peers,
}: MachineSources): readonly Machine[] {
  const records = new Map(machines.map((machine) => [machine.PeerID, machine]))
  const heard = new Set(nodes.filter((node) => node.Online).map((node) => node.ID))
  const met = new Map(peers.map((peer) => [peer.ID, peer]))
  const members = peers.filter((peer) => peer.Member).map((peer) => peer.ID)
  const ids = new Set([self, ...heard, ...records.keys(), ...members])
  ids.delete('')
  const built = [...ids].map((id) => {
    const known = { self, selfName, heard, record: records.get(id), peer: met.get(id) }
    return buildMachine(id, known, id === self ? selfVersion : versionOfAgent(known.peer?.Agent ?? ''))
  })
  return toldApart(built).toSorted((a, b) => Number(b.id === self) - Number(a.id === self) || byName(a, b))
}

/** Names that several machines have, or that could be taken for another's, get the short id behind them. */
function toldApart(machines: readonly Machine[]): Machine[] {
  const counts = new Map<string, number>()
  for (const { name } of machines) counts.set(lookOf(name), (counts.get(lookOf(name)) ?? 0) + 1)
  return machines.map((machine) =>
    machine.named && (!PLAIN.test(machine.name) || (counts.get(lookOf(machine.name)) ?? 0) > 1)
      ? { ...machine, name: withId(machine.name, machine.id) }
      : machine,
  )
}

/** Letters of other scripts look like Latin ones, and a space may stand before what looks like an id. */
const PLAIN = /^[!-~]+$/

/** The same text for names that look alike: in any case of letters, and with what many typefaces draw alike. */
function lookOf(name: string): string {
  return name.toLowerCase().replaceAll('0', 'o').replaceAll(/[1i|]/g, 'l').replaceAll('rn', 'm')
}

/** The number of characters of a name that stand before an id: a column of a table has place for both. */
const MAX_BEFORE_ID = 20

function withId(name: string, id: string): string {
  const beginning = name.length > MAX_BEFORE_ID ? `${name.slice(0, MAX_BEFORE_ID)}…` : name
  return `${beginning} (${shortPeerId(id)})`
}

/** The names of machines by id, for events and owners; where there is none a short id, or the text that is no id. */
export function nameOf(machines: readonly Machine[], id: string): string {
  if (id === '') return 'nobody'
  return machineOf(machines, id)?.name ?? shownId(id)
}

/** The name as `nameOf` has it; a machine without one is called as it calls itself, with its short id. @param own '' for none */
export function nameOrOwn(machines: readonly Machine[], id: string, own: string): string {
  const known = machineOf(machines, id)
  if (own === '' || known?.named === true) return nameOf(machines, id)
  return withId(shownName(own), id)
}

/** The short id; what is no peer id could be made to end like one, and is shown from its beginning. */
export function shownId(id: string): string {
  return tryParsePeerId(id) === undefined ? shownName(id) : shortPeerId(id)
}

/** Lists of machines never change, so each is looked through once. */
const indexes = new WeakMap<readonly Machine[], ReadonlyMap<string, Machine>>()

export function machineOf(machines: readonly Machine[], id: string): Machine | undefined {
  const index = indexes.get(machines) ?? new Map(machines.map((machine) => [machine.id, machine]))
  indexes.set(machines, index)
  return index.get(id)
}

/** Worst first: what is slower than it could be, then what is far, then the rest; offline last. */
export function byAttention(a: Machine, b: Machine): number {
  return ATTENTION[a.reach.kind] - ATTENTION[b.reach.kind] || byName(a, b)
}

const ATTENTION: Record<Reach['kind'], number> = { relayed: 0, indirect: 1, direct: 2, self: 3, offline: 4 }
const COLLATOR = new Intl.Collator('en', { numeric: true })

function byName(a: Machine, b: Machine): number {
  return Number(b.named) - Number(a.named) || COLLATOR.compare(a.name, b.name) || (a.id < b.id ? -1 : 1)
}

interface Known {
  readonly self: string
  readonly selfName: string
  readonly heard: ReadonlySet<string>
  readonly record: MachineView | undefined
  readonly peer: PeerView | undefined
}

function buildMachine(id: string, known: Known, version: string): Machine {
  const { record } = known
  const ownName = id === known.self ? known.selfName : ''
  const hostname = record?.Hostname || known.peer?.Name || ownName
  return {
    id,
    name: shownName(hostname) || shortPeerId(id),
    named: hostname !== '',
    addresses: record?.Addresses ?? [],
    reach: reachOf(id, known),
    os: record?.OS ?? '',
    arch: record?.Arch ?? '',
    version: record?.Version || version,
    peer: known.peer,
  }
}

/** `mesh/0.1.0` is 0.1.0; other software says what it is. */
function versionOfAgent(agent: string): string {
  return agent.startsWith('mesh/') ? agent.slice('mesh/'.length) : agent
}

/** How a machine is reached, from what is known of it. */
export function reachOf(id: string, { self, heard, record, peer }: Omit<Known, 'selfName'>): Reach {
  if (id === self) return { kind: 'self' }
  // packets go so, whatever the connection is
  if (peer?.UDP?.Endpoint != null) return { kind: 'direct', roundTripMs: peer.UDP.RoundTripMs ?? undefined }
  if (peer?.Connected === true) {
    const roundTripMs = peer.RoundTripMs ?? undefined
    return { kind: peer.Path === 'relayed' ? 'relayed' : 'direct', roundTripMs }
  }
  if (heard.has(id) || record?.Online === true) return { kind: 'indirect' }
  const lastSeen = Date.parse(peer?.LastSeen ?? '')
  return { kind: 'offline', lastSeen: Number.isNaN(lastSeen) ? undefined : lastSeen }
}
