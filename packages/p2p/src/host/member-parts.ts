/** The parts of a member, in the order in which each needs the ones before it. */
import { parsePeerId, type PeerId } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import type { AddressRules } from '../addresses/address-rules.ts'
import type { BandwidthCounter } from '../bandwidth/bandwidth.ts'
import type { Bulk, BulkComponents } from '../bulk/bulk.ts'
import { type ChannelService, createChannels } from '../channels/channels.ts'
import {
  createDiscoveryMethods,
  type DiscoveryMethod,
  type DiscoveryMethods,
} from '../discovery/discovery-methods.ts'
import type { Find } from '../discovery/find.ts'
import { maxFrameBytes } from '../gossip/gossipsub-settings.ts'
import { GossipTopicService } from '../gossip/topic.ts'
import type { MeshHost } from '../libp2p/base-host.ts'
import { describeDialError } from '../libp2p/describe-dial-error.ts'
import { ConnectionChecks } from '../libp2p/liveness-checks.ts'
import { allConnectionsTo } from '../libp2p/connections.ts'
import { askRelays, endDead, endReplaced } from '../libp2p/end-dead.ts'
import { HeldBytes } from '../libp2p/held-bytes.ts'
import type { Unsent } from '../unsent.ts'
import type { Listeners } from '../listeners.ts'
import { UNREAD_BYTES } from '../muxer/limits.ts'
import { createMembership, type Membership } from '../membership/membership.ts'
import type { P2pComponents } from '../p2p-components.ts'
import type { ByteStreams, P2pEvent, P2pNode } from '../p2p-node.ts'
import { PathReports } from '../path-reports/path-reports.ts'
import { PeerBook } from '../peers/peer-book.ts'
import { createSpokenProtocols, type SpokenProtocols } from '../peers/spoken-protocols.ts'
import { Dials } from '../reach/dials.ts'
import { Reach } from '../reach/reach.ts'
import { RELAY_HOP } from '../protocols.ts'
import type { Refusals } from '../refusals.ts'
import { createByteStreams } from '../streams/byte-streams.ts'
import { MemberStreams } from '../streams/member-streams.ts'
import { createPeerPaths, type PeerPaths } from '../streams/peer-paths.ts'
import type { HostView } from './connection-gate.ts'
import type { ConnectionGuard } from './connection-guard.ts'
import type { P2pMemberInit } from './member-init.ts'
import type { Platform } from './platform.ts'

/** The libp2p host and what it was made with. */
export interface HostParts {
  readonly host: MeshHost
  readonly view: HostView
  readonly guard: ConnectionGuard
  readonly events: Listeners<[event: P2pEvent]>
  readonly refusals: Refusals
  readonly rules: AddressRules
  readonly bandwidth: BandwidthCounter
}

/** The settings that a person gave, and the platform on which this member runs. */
export interface Given extends HostParts {
  readonly init: P2pMemberInit
  readonly platform: Platform
  readonly bootstrap: readonly Find[]
}

export interface MemberParts extends ReachParts {
  readonly self: PeerId
  readonly spoken: SpokenProtocols
  readonly membership: Membership
  /** Bounds what unfinished frames of gossip and of own protocols hold. */
  readonly held: HeldBytes
  /** Bounds what waits on streams that nobody reads. */
  readonly unread: Scope
  readonly book: PeerBook
  readonly methods: DiscoveryMethods
  readonly streams: MemberStreams
  readonly byteStreams: ByteStreams
  readonly channels: ChannelService
  readonly bulk: Bulk | undefined
  readonly paths: PeerPaths
  readonly pathReports: PathReports
  readonly topic: GossipTopicService
  readonly checks: ConnectionChecks
  readonly endDead: P2pNode['endDead']
  readonly stopChecks: () => void
}

interface ReachParts {
  readonly reach: Reach
  readonly dials: Dials
  /** Where the bootstrap peers report. */
  readonly configured: DiscoveryMethod
}

/** Creates the parts around a host that does not listen yet; none of them is started. */
export function createMemberParts(given: Given, components: P2pComponents): MemberParts {
  const { init, platform, host, refusals } = given
  const { clock, logger } = components
  const self = parsePeerId(host.peerId.toString())
  const spoken = createSpokenProtocols({ libp2p: host })
  const network = {
    config: init.network,
    self,
    admission: init.admission,
    hasPublicTopic: init.publicTopic ?? false,
  }
  const shared = { ...components, libp2p: host, spoken, refusals }
  const membership = createMembership(network, shared)
  const held = new HeldBytes({
    isMember: (peer: string) => membership.isMember(peer),
    maxFrameBytes: maxFrameBytes(init.network),
  })
  const unread = new Scope(UNREAD_BYTES)
  const unsent: Unsent = { bytes: 0 }
  const book = new PeerBook({ host, isMember: (peer) => membership.isMember(peer), clock })
  const methods = createDiscoveryMethods()
  const checks = new ConnectionChecks(components)
  // before the machines, so that they find the older connections of a peer asked when a new one opens
  const stopEndingReplaced = endReplaced(host, checks)
  const reached = createReachParts({ ...given, book, methods, self, membership, spoken, checks }, components)
  const isRelay = (peer: string) => spoken.speaks(peer, RELAY_HOP)
  const stopAskingRelays = askRelays(host, { checks, isRelay })
  const streams = new MemberStreams({
    ...shared,
    membership,
    checks,
    connect: (peer, signal) => reached.reach.connect(peer, signal),
  })
  let bulk: Bulk | undefined
  const byteStreams = createByteStreams({ streams, bulk: () => bulk, unread, unsent, clock, logger })
  const channels = createChannels({ ...shared, streams: byteStreams, membership, held })
  const paths = createPeerPaths({ libp2p: host, streams, spoken, checks })
  const ask = (peer: string) => {
    for (const connection of allConnectionsTo(host, peer)) void checks.check(connection)
  }
  const { onDoubt } = paths
  bulk = createBulkParts({ ...given, channels, spoken, book, unread, unsent, ask, onDoubt }, components)
  const cipher = platform.cipher === undefined ? {} : { cipher: platform.cipher }
  return {
    ...reached,
    self,
    spoken,
    membership,
    held,
    unread,
    book,
    methods,
    streams,
    bulk,
    byteStreams,
    channels,
    paths,
    pathReports: new PathReports({ ...shared, self, channels, book, bandwidth: given.bandwidth }),
    checks,
    endDead: (peer, signal) => endDead(host, peer, { checks, signal, isRelay }),
    stopChecks() {
      stopEndingReplaced()
      stopAskingRelays()
      checks.stop()
    },
    topic: new GossipTopicService(network, { ...shared, membership, held, ...cipher }),
  }
}

function createBulkParts(
  given: Given &
    Pick<MemberParts, 'channels' | 'spoken' | 'book' | 'unread'> &
    Pick<BulkComponents, 'unsent' | 'ask' | 'onDoubt'>,
  components: P2pComponents,
): Bulk | undefined {
  const { platform, rules, spoken, book } = given
  return platform.bulk?.({
    ...components,
    ...given,
    speaks: (peer, protocol) => spoken.speaks(peer, protocol),
    rttMs: (peer) => book.get(peer)?.rttMs,
    isBlocked: rules.isBlockedIp,
  })
}

function createReachParts(
  given: Given & Pick<MemberParts, 'book' | 'methods' | 'self' | 'membership' | 'spoken' | 'checks'>,
  components: P2pComponents,
): ReachParts {
  const { init, host, rules, bootstrap, book, methods, self, membership, spoken, checks } = given
  const configured = methods.open('bootstrap', bootstrap.length > 0)
  const dials = new Dials({ host, rules }, { ...components, checks })
  const limit = init.maxConnections === undefined ? {} : { maxConnections: init.maxConnections }
  const reach = new Reach(
    {
      self,
      isConfigured: (peer) => isConfigured(bootstrap, peer),
      mayTalk: (peer) => init.pairs?.mayTalk(self, peer) ?? true,
      onError(peer, error) {
        book.noteError(peer, describeDialError(error))
        if (isConfigured(bootstrap, peer)) configured.failed(error)
      },
      ...limit,
    },
    { ...components, host, dials, rules, book, membership, spoken, checks },
  )
  return { reach, dials, configured }
}

/** Tells whether a person configured the peer. */
function isConfigured(bootstrap: readonly Find[], peer: string): boolean {
  return bootstrap.some((find) => find.peer === peer)
}
