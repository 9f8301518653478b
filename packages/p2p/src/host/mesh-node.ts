/**
 * Puts a member together: host, room, membership and channels, and the parts that keep it connected. What only some
 * platforms have (transports, multicast, a memory network) comes in as `Platform`.
 */
import type { GossipsubOpts } from '@libp2p/gossipsub'
import {
  type Cidr,
  type Clock,
  type IpAddress,
  type Logger,
  MeshError,
  parsePeerId,
  type Random,
} from '@mesh/core'
import type { NetworkConfig, SealCipher } from '@mesh/network'
import type { Libp2pOptions } from 'libp2p'
import { type AddressRules, createAddressRules, ipOf } from '../addresses/address-rules.ts'
import { chooseAnnounced } from '../addresses/announced-addresses.ts'
import type { CreateBulk } from '../bulk/bulk.ts'
import { createBandwidth } from '../bandwidth/bandwidth.ts'
import { createStreamMetrics } from '../bandwidth/stream-metrics.ts'
import { createBulkChannels } from '../channels/bulk-channels.ts'
import { createChannels } from '../channels/channels.ts'
import { parseBootstrapPeers } from '../discovery/bootstrap.ts'
import { createWays, type Ways } from '../discovery/discovery-methods.ts'
import type { Find } from '../discovery/find.ts'
import { type PeerExchange, startPeerExchange } from '../discovery/peer-exchange.ts'
import { gossipsubSettings } from '../gossip/gossipsub-settings.ts'
import { createRoom } from '../gossip/room.ts'
import { createBaseHost, type MeshHost } from '../libp2p/base-host.ts'
import { connectionsTo } from '../libp2p/connections.ts'
import { inWords } from '../libp2p/describe-dial-error.ts'
import { startPingMonitor } from '../libp2p/ping-monitor.ts'
import { pingPeer } from '../libp2p/ping.ts'
import { MAX_KNOWN_PEERS } from '../limits.ts'
import { createMembership, type Membership } from '../membership/membership.ts'
import type { P2pEvent, P2pNode } from '../p2p-node.ts'
import { createPeerBook, type PeerBook } from '../peers/peer-book.ts'
import { createSpokenProtocols, type SpokenProtocols } from '../peers/spoken-protocols.ts'
import { watchConnections } from '../peers/watch-connections.ts'
import { PEERS_PROTOCOL } from '../protocols.ts'
import { createDials, type Dials } from '../reach/dials.ts'
import { createReach, type Reach } from '../reach/reach.ts'
import { createRefusals } from '../refusals.ts'
import { createByteStreams } from '../streams/byte-streams.ts'
import { createMemberStreams } from '../streams/member-streams.ts'
import { createPeerPaths } from '../streams/peer-paths.ts'
import { stopHost } from '../upstream/stop-host.ts'
import { createConnectionGate } from './connection-gate.ts'
import { parseIdentity } from './identity.ts'

export interface MeshNodeInit {
  readonly network: NetworkConfig
  /** Ed25519: the 32-byte seed, or seed and public key together. */
  readonly identity: Uint8Array
  /** Addresses to announce in place of the ones it listens on. */
  readonly announce?: readonly string[]
  /** Each ends with `/p2p/` and the peer's id. */
  readonly bootstrapPeers?: readonly string[]
  /** Members pass on how other members can be reached. Default true. */
  readonly peerExchange?: boolean
  /** Ranges that are never dialled, accepted or announced: the VPN's own. */
  readonly blockedRanges?: readonly Cidr[]
  /** Peer ids that are never talked to. */
  readonly blockedPeers?: readonly string[]
  /** Default 300. */
  readonly maxConnections?: number
  /** What relaying for others may cost. */
  readonly relayLimits?: Partial<RelayLimits>
  /** Over the settings that the room needs. */
  readonly gossip?: Partial<GossipsubOpts>
  /** What this node is called: a DNS label (`isNodeName`), told to members by the peer exchange. */
  readonly name?: string
  /** What identify tells others, strangers too. Default `mesh`. */
  readonly userAgent?: string
}

/** Of one member that is relayed for. */
export interface RelayLimits {
  /** In both directions of a circuit together. Default 1 GiB. */
  readonly maxBytes: number
  /** Of one circuit. Default 30 min. */
  readonly maxDurationMs: number
  /** How many circuits one peer may hold at a time. Default 64. */
  readonly maxCircuitsPerPeer: number
  /** A reservation ends so long after it was made or renewed. Default 1 h. */
  readonly reservationMs: number
}

export interface MeshNodeComponents {
  readonly clock: Clock
  readonly random: Random
  readonly logger: Logger
}

/** A `P2pNode` with what its owner needs beside. */
export interface MeshNode extends P2pNode {
  /** Resolves when every transport that is switched on listens, or failed; `discovery()` says which did. */
  readonly allTransportsReady: Promise<void>
  /** Ids of all protocols that this node answers now. */
  protocols(): readonly string[]
  /** Where the connections of now go to, over relays to the relay; no names. */
  remoteAddresses(): readonly IpAddress[]
  /** Replaces the ranges that libp2p keeps out of, as when an address was leased; connections in them close. */
  blockRanges(ranges: readonly Cidr[]): void
}

/** What differs between a machine, a browser and a test. */
export interface Platform {
  readonly transports: NonNullable<Libp2pOptions['transports']>
  /** Where the transports above listen. */
  readonly listen: readonly string[]
  /** Streams over connections of their own. Default: none. */
  readonly bulk?: CreateBulk
  /** Default: one that runs everywhere. */
  readonly cipher?: SealCipher
  /** Adds what may come later; what fails is told to its way. @returns stops what it added */
  join(context: PlatformContext): Promise<() => Promise<void>>
}

/** What late parts may use. */
export interface PlatformContext extends MeshNodeComponents {
  readonly host: MeshHost
  readonly membership: Membership
  readonly spoken: SpokenProtocols
  readonly book: PeerBook
  readonly reach: Reach
  readonly dialOne: Dials['dialOne']
  readonly rules: AddressRules
  readonly ways: Ways
  readonly bootstrap: readonly Find[]
  /** Members that answer STUN, with the port. */
  readonly stunPorts: ReadonlyMap<string, number>
  /** Tells members that this node answers STUN. */
  setStunPort(port: number): void
}

/** @throws MeshError `p2p.bad_identity`, `p2p.bad_bootstrap_peer`, `p2p.cannot_listen` */
export async function createMeshNode(
  init: MeshNodeInit,
  platform: Platform,
  given: MeshNodeComponents,
): Promise<MeshNode> {
  const components = { ...given, logger: given.logger.child('p2p') }
  const { clock, logger } = components
  const bootstrap = parseBootstrapPeers(init.bootstrapPeers ?? [])
  const privateKey = await parseIdentity(init.identity)
  const self = parsePeerId(privateKey.publicKey.toString())
  const listeners = new Set<(event: P2pEvent) => void>()
  const emit = (event: P2pEvent) => {
    for (const listener of listeners) listener(event)
  }
  const refusals = createRefusals({ clock, emit })
  const rules = createAddressRules(init.blockedRanges ?? [])
  const bandwidth = createBandwidth({ clock })
  const maxCircuitsPerPeer = init.relayLimits?.maxCircuitsPerPeer
  const blockedPeers = new Set(init.blockedPeers)
  const late: { membership?: Membership; host?: MeshHost; reach?: Reach } = {}

  const host = await createBaseHost({
    privateKey,
    listen: platform.listen,
    announce: init.announce ?? [],
    transports: platform.transports,
    gossip: { ...gossipsubSettings(init.network), ...init.gossip },
    gate: createConnectionGate({
      rules,
      isBlockedPeer: (peer) => blockedPeers.has(peer),
      isMember: (peer) => late.membership?.isMember(peer) === true,
      connections: (peer) => (late.host === undefined ? [] : connectionsTo(late.host, peer)),
      onRefused: (code, from) => refusals.refuse(code, from),
      ...(maxCircuitsPerPeer === undefined ? {} : { maxCircuitsPerPeer }),
    }),
    announced: (addresses) => chooseAnnounced(addresses, rules),
    metrics: (connections) => createStreamMetrics(bandwidth, connections),
    userAgent: init.userAgent ?? 'mesh',
    ...(init.maxConnections === undefined ? {} : { maxConnections: init.maxConnections }),
  })
  const spoken = createSpokenProtocols({ libp2p: host })
  const membership = createMembership(
    { config: init.network, self },
    { ...components, libp2p: host, spoken, refusals },
  )
  Object.assign(late, { membership, host })
  const streams = createMemberStreams({
    libp2p: host,
    membership,
    clock,
    refusals,
    connect: async (peer, signal) => late.reach?.connect(peer, signal),
  })
  const channels = createChannels({ streams, membership, spoken, clock, refusals, logger })
  const bulk = platform.bulk?.({
    ...components,
    host,
    channels,
    bandwidth,
    refusals,
    speaks: (peer, protocol) => spoken.speaks(peer, protocol),
    rttMs: (peer) => book.get(peer)?.rttMs,
    isBlocked: rules.isBlockedIp,
  })
  const paths = createPeerPaths({ libp2p: host, streams, spoken })
  const room = createRoom(
    { config: init.network, self },
    {
      ...components,
      libp2p: host,
      membership,
      spoken,
      refusals,
      ...(platform.cipher === undefined ? {} : { cipher: platform.cipher }),
    },
  )
  const book = createPeerBook({ host, isMember: (peer) => membership.isMember(peer), clock })
  const ways = createWays()
  const configured = ways.open('bootstrap', bootstrap.length > 0)
  const isConfigured = (peer: string) => bootstrap.some((find) => find.peer === peer)
  const dials = createDials({ host, rules }, components)
  const reach = createReach(
    {
      self,
      isConfigured,
      onError(peer, error) {
        book.noteError(peer, inWords(error))
        if (isConfigured(peer)) configured.failed(error)
      },
      ...(init.maxConnections === undefined ? {} : { maxConnections: init.maxConnections }),
    },
    { ...components, host, dials, rules, book, membership, spoken },
  )
  late.reach = reach
  const stops = [watchConnections({ host, emit })]

  await membership.start()
  await startListening(host)
  await room.start()
  await bulk?.start()
  stops.push(startPingMonitor({ host, onRtt: (peer, rttMs) => book.noteRtt(peer, rttMs) }, components))
  for (const find of bootstrap) reach.found(configured, find)

  const stunPorts = new Map<string, number>()
  const own = { stunPort: 0 }
  const members = ways.open('members', init.peerExchange !== false)
  const exchange: PeerExchange | undefined =
    init.peerExchange === false
      ? undefined
      : await startPeerExchange(
          {
            host,
            channels,
            isMember: (peer) => membership.isMember(peer),
            onMember: (listener) => membership.onMember(listener),
            stunPort: () => own.stunPort,
            name: init.name,
            onName: book.noteName,
            found: (find) => reach.found(members, find),
            onStunPort(peer, port) {
              if (port === 0) stunPorts.delete(peer)
              else if (stunPorts.size < MAX_KNOWN_PEERS) stunPorts.set(peer, port)
            },
            onRefused: (code, peer) => refusals.refuse(code, { peer, protocol: PEERS_PROTOCOL }),
          },
          components,
        )
  const joined = platform
    .join({
      ...components,
      host,
      membership,
      spoken,
      book,
      reach,
      dialOne: (address, signal) => dials.dialOne(address, signal),
      rules,
      ways,
      bootstrap,
      stunPorts,
      setStunPort(port) {
        own.stunPort = port
        exchange?.announceSelf()
      },
    })
    .catch((error: unknown) => {
      logger.error('host incomplete', { reason: String(error) })
      return async () => {}
    })

  let stopping: Promise<void> | undefined
  async function stop(): Promise<void> {
    exchange?.stop()
    reach.stop()
    for (const stopPart of stops) stopPart()
    await (await joined)()
    bulk?.stop()
    channels.stop()
    await streams.stop()
    await room.stop()
    await membership.stop()
    await stopHost(host)
    book.stop()
    paths.stop()
    spoken.stop()
    listeners.clear()
  }

  return {
    self,
    room,
    channels: bulk === undefined ? channels : createBulkChannels({ ...components, channels, bulk, refusals }),
    streams: createByteStreams({ streams, bulk, clock, logger }),
    bandwidth,
    allTransportsReady: joined.then(() => {}),
    addresses: () => host.getMultiaddrs().map(String),
    protocols: () => host.getProtocols(),
    peers: () => book.all().map((status) => ({ ...status, reach: reach.describe(status.id) })),
    peer(id) {
      const status = book.get(id)
      return status === undefined ? undefined : { ...status, reach: reach.describe(id) }
    },
    speaks: paths.speaks,
    connect: paths.connect,
    onPath: paths.onPath,
    discovery: ways.list,
    refusals: refusals.counts,
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    ping: (peer, signal) =>
      pingPeer(host, peer, { ...components, ...(signal === undefined ? {} : { signal }) }),
    remoteAddresses: () => host.getConnections().flatMap(({ remoteAddr }) => ipOf(remoteAddr) ?? []),
    blockRanges(ranges) {
      rules.block(ranges)
      bulk?.closeBlocked()
      for (const connection of host.getConnections()) {
        if (rules.isBlocked(connection.remoteAddr)) connection.abort(new Error('lies in a blocked range'))
      }
    },
    stop: () => (stopping ??= stop()),
  }
}

async function startListening(host: MeshHost): Promise<void> {
  try {
    await host.start()
  } catch (cause) {
    throw new MeshError('p2p.cannot_listen', `cannot listen: ${inWords(cause)}`, {
      cause,
      hint: 'Choose other listen addresses, or stop what uses these.',
    })
  }
}
