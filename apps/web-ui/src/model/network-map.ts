/**
 * The network as nodes and links, from the machines that this node knows and the paths that members report. Each link
 * stands once: of the reports of its two ends the freshest is kept.
 */
import type { PathReportView } from '@mesh/api-contract'
import { type Machine, type Reach, shownId } from './machine.ts'
import { siteOf } from './site.ts'

export interface MapNode {
  readonly id: string
  readonly name: string
  /** `relay`: it passes packets on and is no member. `site`: a group of machines. */
  readonly kind: Reach['kind'] | 'relay' | 'site'
  /** The network that the machine is in; undefined where this node does not know. */
  readonly site: string | undefined
  /** Machines that the node stands for. */
  readonly count: number
}

export interface MapLink {
  readonly key: string
  readonly from: string
  readonly to: string
  readonly path: 'direct' | 'relayed'
  /** The node that passes packets on; undefined for a direct link and an unknown relay. */
  readonly relay: string | undefined
  readonly roundTripMs: number | undefined
  readonly bytesPerSecond: number
  /** The end that reports it. */
  readonly toldBy: string
  /** When it was told, Unix ms. */
  readonly toldAt: number
}

export interface NetworkMap {
  readonly nodes: readonly MapNode[]
  readonly links: readonly MapLink[]
}

interface MapSources {
  readonly machines: readonly Machine[]
  /** When the machines, and with them the paths of this node, were read, Unix ms. */
  readonly machinesReadAt: number
  readonly reports: readonly PathReportView[]
  /** When the reports arrived, Unix ms. */
  readonly readAt: number
}

export function buildNetworkMap(sources: MapSources): NetworkMap {
  const { machines, machinesReadAt, reports, readAt } = sources
  const members = new Set(machines.map(({ id }) => id))
  const links = new Map<string, MapLink>()
  const told = [
    ...ownReport(machines).map((report) => ({ report, toldAt: machinesReadAt })),
    ...reports.map((report) => ({ report, toldAt: readAt - (report.AgeMs ?? 0) })),
  ]
  for (const { report, toldAt } of told) {
    for (const path of report.Paths) {
      if (!members.has(report.PeerID) || !members.has(path.PeerID) || path.PeerID === report.PeerID) continue
      const link = linkOf(report.PeerID, path, toldAt)
      if (toldAt > (links.get(link.key)?.toldAt ?? Number.NEGATIVE_INFINITY)) links.set(link.key, link)
    }
  }
  const relays = new Set([...links.values()].flatMap(({ relay }) => relay ?? []))
  const strangers = [...relays].filter((id) => !members.has(id))
  return { nodes: [...machines.map(machineNode), ...strangers.map(relayNode)], links: [...links.values()] }
}

/** The paths of this node, which the page knows without a report. */
function ownReport(machines: readonly Machine[]): PathReportView[] {
  const self = machines.find(({ reach }) => reach.kind === 'self')
  if (self === undefined) return []
  const Paths = machines.flatMap(({ id, reach, peer }) => {
    if (peer === undefined || (reach.kind !== 'direct' && reach.kind !== 'relayed')) return []
    return {
      PeerID: id,
      Path: reach.kind,
      Relay: reach.kind === 'relayed' ? peer.Relay : null,
      RoundTripMs: reach.roundTripMs ?? null,
      BytesPerSecond: peer.RateIn + peer.RateOut,
    }
  })
  return [{ PeerID: self.id, State: 'told', AgeMs: 0, Paths, More: 0 }]
}

function linkOf(teller: string, path: PathReportView['Paths'][number], toldAt: number): MapLink {
  const relay = path.Path === 'relayed' ? (path.Relay ?? undefined) : undefined
  return {
    key: linkKey(teller, path.PeerID),
    from: teller,
    to: path.PeerID,
    path: path.Path,
    relay: relay === teller || relay === path.PeerID ? undefined : relay,
    roundTripMs: path.RoundTripMs ?? undefined,
    bytesPerSecond: path.BytesPerSecond,
    toldBy: teller,
    toldAt,
  }
}

function linkKey(a: string, b: string): string {
  return a < b ? `${a} ${b}` : `${b} ${a}`
}

function machineNode(machine: Machine): MapNode {
  const { id, name, reach } = machine
  return { id, name, kind: reach.kind, site: siteOf(machine), count: 1 }
}

function relayNode(id: string): MapNode {
  return { id, name: shownId(id), kind: 'relay', site: undefined, count: 1 }
}

/** The sites of both ends of a link: `203.0.113.0/24`, or `203.0.113.0/24 to 198.51.100.0/24`. */
export function sitesInWords(from: string | undefined, to: string | undefined): string {
  if (from === to) return from ?? ''
  return `${from ?? 'unknown'} to ${to ?? 'unknown'}`
}

/** How much of the network the reports cover, without this node's own. */
export interface Coverage {
  readonly told: number
  readonly members: number
  /** When the oldest of the reports was made, Unix ms; undefined where there is none. */
  readonly oldestAt: number | undefined
  /** Paths that the reports leave out. */
  readonly more: number
}

export function coverageOf(reports: readonly PathReportView[], self: string, readAt: number): Coverage {
  const others = reports.filter(({ PeerID }) => PeerID !== self)
  const told = others.filter(({ State }) => State === 'told')
  const oldest = told.reduce((most, { AgeMs }) => Math.max(most, AgeMs ?? 0), 0)
  return {
    told: told.length,
    members: others.length,
    oldestAt: told.length === 0 ? undefined : readAt - oldest,
    more: reports.reduce((sum, { More }) => sum + More, 0),
  }
}

/** Puts machines of one site behind one node, but for the open sites. Links inside a site are left out. */
export function groupBySite(map: NetworkMap, open: ReadonlySet<string>): NetworkMap {
  const sizes = new Map<string, number>()
  for (const { site } of map.nodes) if (site !== undefined) sizes.set(site, (sizes.get(site) ?? 0) + 1)
  const isClosed = (site: string | undefined): site is string =>
    site !== undefined && !open.has(site) && (sizes.get(site) ?? 0) > 1
  const standsFor = new Map(
    map.nodes.map(({ id, site }) => [id, isClosed(site) ? siteId(site) : id] as const),
  )
  const sites = [...sizes].flatMap(([site, count]) => (isClosed(site) ? siteNode(site, count) : []))
  const links = new Map<string, MapLink>()
  for (const link of map.links) {
    const moved = movedLink(link, (id) => standsFor.get(id) ?? id)
    if (moved.from === moved.to) continue
    links.set(moved.key, joinedLinks(links.get(moved.key), moved))
  }
  return {
    nodes: [...map.nodes.filter(({ site }) => !isClosed(site)), ...sites],
    links: [...links.values()],
  }
}

/** Machines up to this number need no outlines around their sites. */
const MANY_MACHINES = 40

export interface MapSite {
  readonly name: string
  /** Ids of the machines of the site that the map shows one by one. */
  readonly members: readonly string[]
}

/** Gives the sites to outline: those with several machines that stand one by one, on a map of many. */
export function outlinedSites({ nodes }: NetworkMap): readonly MapSite[] {
  const machines = nodes.reduce((sum, { count }) => sum + count, 0)
  if (machines <= MANY_MACHINES) return []
  const single = nodes.filter(({ kind, site }) => kind !== 'site' && site !== undefined)
  return [...Map.groupBy(single, ({ site = '' }) => site)]
    .filter(([, members]) => members.length > 1)
    .map(([name, members]) => ({ name, members: members.map(({ id }) => id) }))
}

function siteId(site: string): string {
  return `site ${site}`
}

function siteNode(site: string, count: number): MapNode {
  return { id: siteId(site), name: site, kind: 'site', site, count }
}

function movedLink(link: MapLink, move: (id: string) => string): MapLink {
  const [from, to] = [move(link.from), move(link.to)]
  const relay = link.relay === undefined ? undefined : move(link.relay)
  return {
    ...link,
    from,
    to,
    key: linkKey(from, to),
    relay: relay === from || relay === to ? undefined : relay,
  }
}

/** One line for several links: as good as the best of them, with the traffic of all. */
function joinedLinks(a: MapLink | undefined, b: MapLink): MapLink {
  if (a === undefined) return b
  const best = a.path === b.path ? (trip(a) <= trip(b) ? a : b) : a.path === 'direct' ? a : b
  return {
    ...best,
    bytesPerSecond: a.bytesPerSecond + b.bytesPerSecond,
    toldAt: Math.min(a.toldAt, b.toldAt),
  }
}

const trip = ({ roundTripMs }: MapLink) => roundTripMs ?? Number.POSITIVE_INFINITY

const MIN_LINE_PX = 1
const MAX_LINE_PX = 6
/** The traffic of the thickest line. */
const FULL_LINE_BYTES = 50e6
/** The traffic from which a line grows. */
const FIRST_LINE_BYTES = 1e3

/** The width of a line in CSS pixels, in half pixels: it grows with the logarithm of the traffic. */
export function lineWidth(bytesPerSecond: number): number {
  if (bytesPerSecond <= FIRST_LINE_BYTES) return MIN_LINE_PX
  const part = Math.log(bytesPerSecond / FIRST_LINE_BYTES) / Math.log(FULL_LINE_BYTES / FIRST_LINE_BYTES)
  return Math.round(2 * (MIN_LINE_PX + (MAX_LINE_PX - MIN_LINE_PX) * Math.min(1, part))) / 2
}
