/** A member: libp2p host, gossip, membership, channels. Transports and the like come in as `Platform`. */
import type { P2pMemberInit } from './member-init.ts'
import type { Cidr, IpAddress } from '@mesh/core'
import { createAddressRules, ipOf } from '../addresses/address-rules.ts'
import { chooseAnnounced } from '../addresses/announced-addresses.ts'
import { createBandwidth } from '../bandwidth/bandwidth.ts'
import { createStreamMetrics } from '../bandwidth/stream-metrics.ts'
import { parsePeerAddress } from '../addresses/parse-peer-address.ts'
import { parseBootstrapPeers } from '../discovery/bootstrap.ts'
import type { Find } from '../discovery/find.ts'
import { gossipsubSettings } from '../gossip/gossipsub-settings.ts'
import { createBaseHost } from '../libp2p/base-host.ts'
import { pingPeer } from '../libp2p/ping.ts'
import type { OnMapped } from '@mesh/port-mapping'
import type { P2pComponents } from '../p2p-components.ts'
import { Listeners } from '../listeners.ts'
import type { P2pEvent, P2pNode, PeerStatus } from '../p2p-node.ts'
import type { BookedPeer } from '../peers/peer-book.ts'
import { createRefusals } from '../refusals.ts'
import { createConnectionGate, HostView } from './connection-gate.ts'
import { ConnectionGuard } from './connection-guard.ts'
import { parseIdentity } from './identity.ts'
import { startParts } from './member-life.ts'
import { createMemberParts, type Given, type HostParts, type MemberParts } from './member-parts.ts'
import type { Platform } from './platform.ts'
import { ReservationLimits } from './reservation-limits.ts'

/** A `P2pNode` with what its owner needs beside. */
export interface P2pMember extends P2pNode {
  /** Resolves when every transport that is switched on listens, or failed; `discovery()` says which did. */
  readonly allTransportsReady: Promise<void>
  /** Gives the ids of all protocols that this node answers now. */
  protocols(): readonly string[]
  /** Gives the IP addresses that the connections of now go to, over relays that of the relay; no names. */
  remoteAddresses(): readonly IpAddress[]
  /** Has routers send what comes for a UDP port of theirs to this one, and tells where; the returned function ends it. */
  mapUdpPort(port: number, onMapped: OnMapped): () => void
  /** Replaces the ranges that libp2p keeps out of, as when an address was leased; connections in them close. */
  blockRanges(ranges: readonly Cidr[]): void
}

/**
 * Creates and starts a member.
 *
 * @throws MeshError `p2p.bad_identity`, `p2p.bad_bootstrap_peer`, `p2p.cannot_listen`
 */
export async function createP2pMember(
  init: P2pMemberInit,
  platform: Platform,
  given: P2pComponents,
): Promise<P2pMember> {
  const components = { ...given, logger: given.logger.child('p2p') }
  const bootstrap = parseBootstrapPeers(init.bootstrapPeers ?? [])
  const hostParts = await createHostParts({ init, platform, bootstrap }, components)
  const parts = createMemberParts({ init, platform, bootstrap, ...hostParts }, components)
  hostParts.view.attach(hostParts.host, parts.membership)
  const { host } = hostParts
  const { membership, unread } = parts
  hostParts.guard.start({ host, membership, unread })
  const running = await startParts({ init, platform, bootstrap, ...hostParts, ...parts }, components)
  const mapUdpPort: P2pMember['mapUdpPort'] = platform.mapUdpPort ?? (() => () => {})
  return buildMember({ ...hostParts, ...parts, ...running, bootstrap, mapUdpPort }, components)
}

async function createHostParts(
  { init, platform, bootstrap }: Pick<Given, 'init' | 'platform' | 'bootstrap'>,
  components: P2pComponents,
): Promise<HostParts> {
  const events = new Listeners<[event: P2pEvent]>()
  const refusals = createRefusals({ clock: components.clock, emit: events.tell })
  const rules = createAddressRules(init.blockedRanges ?? [])
  const bandwidth = createBandwidth(components)
  const blockedPeers = new Set(init.blockedPeers)
  const maxCircuitsPerPeer = init.relayLimits?.maxCircuitsPerPeer
  const view = new HostView()
  const guard = new ConnectionGuard(
    {
      isConfigured: (peer) => bootstrap.some((find) => find.peer === peer),
      maxConnections: init.maxConnections,
      onClosed: (peer) => refusals.refuse('host.too_many', { peer }),
    },
    components,
  )
  const host = await createBaseHost({
    privateKey: await parseIdentity(init.identity),
    listen: platform.listen,
    announce: init.announce ?? [],
    transports: platform.transports,
    gossip: { ...gossipsubSettings(init.network), ...init.gossip },
    gate: createConnectionGate({
      rules,
      isBlockedPeer: (peer) => blockedPeers.has(peer) || init.admission?.isBanned(peer) === true,
      mayTalk: init.pairs?.mayTalk,
      view,
      refusals,
      guard,
      reservations: new ReservationLimits({
        clock: components.clock,
        reservationMs: init.relayLimits?.reservationMs,
        isHere: (peer) => view.connections(peer).length > 0,
        end: (peer) => view.endReservation(peer),
      }),
      ...(maxCircuitsPerPeer === undefined ? {} : { maxCircuitsPerPeer }),
    }),
    announced: (addresses) => chooseAnnounced(addresses, rules),
    metrics: (connections) => createStreamMetrics(bandwidth, { connections }),
    userAgent: init.userAgent ?? 'mesh',
    clock: components.clock,
    maxConnections: guard.bounds.maxConnections + guard.bounds.maxUnproven,
  })
  return { host, view, guard, events, refusals, rules, bandwidth }
}

interface Running extends HostParts, MemberParts, Pick<P2pMember, 'mapUdpPort'> {
  readonly bootstrap: readonly Find[]
  /** Resolves when all parts of the platform have joined, or failed. */
  readonly joined: Promise<unknown>
  readonly stop: () => Promise<void>
}

function buildMember(parts: Running, components: P2pComponents): P2pMember {
  const { host, rules, book, paths, events } = parts
  let stopping: Promise<void> | undefined
  const withReach = (status: BookedPeer): PeerStatus => ({
    ...status,
    foundBy: parts.reach.foundBy(status.id),
    reach: parts.reach.describe(status.id),
  })
  return {
    self: parts.self,
    topic: parts.topic,
    publicTopic: parts.topic.publicTopic,
    channels: parts.channels,
    streams: parts.byteStreams,
    bandwidth: parts.bandwidth,
    allTransportsReady: parts.joined.then(() => {}),
    addresses: () => host.getMultiaddrs().map(String),
    protocols: () => host.getProtocols(),
    peers: () => book.all().map(withReach),
    peer(id) {
      const status = book.get(id)
      return status === undefined ? undefined : withReach(status)
    },
    addPeer(text) {
      const { peer, address } = parsePeerAddress(text, { self: parts.self, rules })
      if (address !== undefined && peer !== parts.self) parts.reach.learn(peer, address)
      return peer
    },
    async forget(peer) {
      await parts.reach.forget(peer)
      const isKnown = await book.forget(peer)
      for (const find of parts.bootstrap) if (find.peer === peer) parts.reach.found(parts.configured, find)
      return isKnown
    },
    pathReports: () => parts.pathReports.reports(),
    speaks: paths.speaks,
    connect: paths.connect,
    onPath: paths.onPath,
    onDoubt: paths.onDoubt,
    discovery: parts.methods.list,
    refusals: parts.refusals.counts,
    subscribe: events.add,
    ping: (peer, signal) =>
      pingPeer(host, peer, { ...components, ...(signal === undefined ? {} : { signal }) }),
    endDead: parts.endDead,
    remoteAddresses: () => host.getConnections().flatMap(({ remoteAddr }) => ipOf(remoteAddr) ?? []),
    mapUdpPort: parts.mapUdpPort,
    blockRanges(ranges) {
      rules.block(ranges)
      parts.bulk?.closeBlocked()
      for (const connection of host.getConnections()) {
        if (rules.isBlocked(connection.remoteAddr)) connection.abort(new Error('lies in a blocked range'))
      }
    },
    stop: () => (stopping ??= parts.stop()),
  }
}
