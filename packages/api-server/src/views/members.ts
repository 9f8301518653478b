/** Who is about: machines, nodes and peers, from the ledger and the network. Pure. */
import type { MachineView, NodeView, PeerView, StatsView, VpnPeerView } from '@mesh/api-contract'
import { BUCKETS } from '@mesh/core'
import { type Entry, heartbeatTime, type Snapshot } from '@mesh/ledger'
import { ONLINE_WINDOW_MS } from '../limits.ts'
import type { NetworkPort, PeerState, TrafficStats } from '../ports.ts'
import type { Machine, MachineList } from './machine-list.ts'
import type { VpnPort } from '../vpn-port.ts'

/** The parts that the views look at, at one moment. */
export interface Scene {
  readonly snapshot: Snapshot
  /** Has what the snapshot has once it has caught up. */
  readonly machines: MachineList
  readonly self: string
  /** Undefined before the network is attached. */
  readonly network: NetworkPort | undefined
  /** Undefined where this node runs none. */
  readonly vpn?: VpnPort | undefined
  /** The present time, in unix ms. */
  readonly now: number
}

/** Gives what shows one machine after the other: there may be tens of thousands, of which a page has few. */
export function machineViewer(scene: Scene): (machine: Machine) => MachineView {
  const onTopic = new Set(scene.network?.members())
  const connected = connectedPeers(scene)
  return ({ record, addresses }) => {
    const { PeerID, Hostname, OS, Arch, Address, Version } = record
    const isSelf = PeerID === scene.self
    return {
      PeerID,
      Hostname,
      OS,
      Arch,
      Address,
      Addresses: [...addresses],
      Version,
      Connected: isSelf || connected.has(PeerID),
      OnChain: isSelf || onTopic.has(PeerID),
      Online: isOnline(scene, PeerID),
    }
  }
}

/** Has it a heartbeat within 10 minutes? This node itself always is online. */
export function isOnline({ snapshot, self, now }: Scene, peer: string): boolean {
  return peer === self || isFresh(snapshot.getLive(BUCKETS.healthcheck, peer), now)
}

/** Lists the peers that are on the topic, or had a heartbeat within 10 minutes, by peer id; this node is included. */
export function onlineNodes({ snapshot, self, network, now }: Scene): readonly string[] {
  const ids = new Set([self, ...(network?.members() ?? [])])
  for (const { key, entry } of snapshot.entries(BUCKETS.healthcheck)) if (isFresh(entry, now)) ids.add(key)
  return [...ids]
}

export function peerstoreViews({ self, network }: Scene): readonly NodeView[] {
  const others = (network?.peers() ?? []).map(({ id, connected }) => ({ ID: id, Online: connected }))
  return [{ ID: self, Online: true }, ...others].sort((a, b) => byText(a.ID, b.ID))
}

export function peerViews({ machines, network, vpn }: Scene): readonly PeerView[] {
  if (network === undefined) return []
  const traffic = network.traffic?.byPeer()
  const udp = new Map(vpn?.status().Peers.map(({ PeerID, UDP }) => [PeerID, UDP]))
  return [...network.peers()]
    .sort((a, b) => byText(a.id, b.id))
    .map((peer) =>
      peerView(peer, {
        name: peer.name ?? machines.of(peer.id)?.record.Hostname ?? '',
        udp: udp.get(peer.id),
        stats: statsView(traffic?.get(peer.id)),
      }),
    )
}

interface PeerFacts {
  readonly name: string
  readonly udp: VpnPeerView['UDP'] | undefined
  readonly stats: StatsView
}

function peerView(peer: PeerState, { name, udp, stats }: PeerFacts): PeerView {
  return {
    ID: peer.id,
    Name: name,
    Connected: peer.connected,
    Member: peer.member,
    Path: peer.path ?? null,
    Relay: peer.relay ?? null,
    FoundBy: [...(peer.foundBy ?? [])],
    Transport: peer.transport ?? null,
    Addresses: [...peer.addresses],
    RoundTripMs: peer.rttMs ?? null,
    LastSeen: peer.lastSeen === undefined ? null : new Date(peer.lastSeen).toISOString(),
    LastError: peer.lastError ?? null,
    Reach: peer.reach ?? null,
    Agent: peer.agent ?? null,
    UDP: udp ?? null,
    ...stats,
  }
}

/** Zeros where there was no traffic. */
export function statsView(stats: TrafficStats | undefined): StatsView {
  return {
    TotalIn: stats?.totalIn ?? 0,
    TotalOut: stats?.totalOut ?? 0,
    RateIn: stats?.rateIn ?? 0,
    RateOut: stats?.rateOut ?? 0,
  }
}

/** Host names are alike in any case; what has none has none in common with others. */
export function isSameName(hostname: string, name: string): boolean {
  return hostname !== '' && hostname.toLowerCase() === name.toLowerCase()
}

function isFresh(heartbeat: Entry | undefined, now: number): boolean {
  if (heartbeat === undefined || heartbeat.deleted) return false
  const at = heartbeatTime(heartbeat)
  return at !== undefined && now - at < ONLINE_WINDOW_MS
}

function connectedPeers({ network }: Scene): ReadonlySet<string> {
  return new Set((network?.peers() ?? []).filter((peer) => peer.connected).map((peer) => peer.id))
}

function byText(a: string, b: string): number {
  return a < b ? -1 : a > b ? 1 : 0
}
