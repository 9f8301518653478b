/**
 * Joins the network of a token in this order:
 *
 * 1. The host, with the transports that stand at once.
 * 2. Replication.
 * 3. Services and egress.
 * 4. The VPN, or without it the courtesy to leave addresses to others.
 * 5. DNS, which may listen at the VPN's address. Meanwhile the slower transports.
 */
import type { JoinInit } from './join-init.ts'
import { BUCKETS, tryParseAddressInRange, tryParsePeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import type { P2pNode } from '@mesh/p2p'
import type { P2pNodeInit } from '@mesh/p2p/node'
import type { ReplicatorInit } from '@mesh/replication'
import { nameInForce } from '../settings/node-name.ts'
import type { Settings } from '../settings/options.ts'
import { DEFAULT_VPN_RANGE } from '../settings/vpn-values.ts'
import type { Identity } from '../state/identity.ts'
import { version } from '../version.ts'
import { formatPlace } from '../words/format-place.ts'
import type { CleanUps } from '../clean-ups.ts'
import { announce } from './announce.ts'
import type { JoinedServices } from './join-services.ts'
import { logMembers } from './log-members.ts'
import { memberNames } from '../access/member-names.ts'
import { createPairRules } from '../access/rule-ports.ts'
import { expectMembers } from './expected-members.ts'
import { zlibCompression } from './zlib-compression.ts'

/** The longest segment that passes wherever IPv6 does, whose least MTU is 1280 bytes. */
const SEGMENT_BYTES = 1_220

/** The parts of a node that has joined, for those who started it. */
export interface Joined extends JoinedServices {
  /** Gives the addresses that others can dial, each with `/p2p/ID`. */
  readonly addresses: () => readonly string[]
}

export async function joinNetwork(init: JoinInit, cleanUps: CleanUps): Promise<Joined> {
  const { settings, network, identity, ledger, trust, api, clock, random, log, uptimeMs, signal } = init
  const [{ createP2pNode }, forNarrowPaths] = await Promise.all([import('@mesh/p2p/node'), narrowPaths()])
  const markSocket = settings.fwmark === 0 ? undefined : await socketMark(settings.fwmark)
  const p2p = await createP2pNode(
    {
      ...networkSettings(settings),
      ...(markSocket !== undefined && { markSocket }),
      ...forNarrowPaths,
      network: network.config,
      identity: keyPairOf(identity),
      ...(trust !== undefined && { admission: trust, publicTopic: settings.peerguard }),
      pairs: createPairRules(init.rules),
    },
    { clock, random, logger: log },
  )
  cleanUps.add(() => p2p.stop())
  signal.throwIfAborted()
  api.attach(p2p)
  const addresses = p2p.addresses()
  log.info('host listening', { id: identity.id, addresses, afterMs: Math.round(uptimeMs()) })
  cleanUps.add(
    logMembers({ p2p, names: (peers) => memberNames(ledger, peers), clock, log: log.child('p2p') }),
  )

  const { createReplicator } = await import('@mesh/replication')
  const limits = { gossipMemoryBytes: settings.gossipMaxMemory }
  const named = settings.discoveryBootstrapPeers.map((address) => address.slice(address.lastIndexOf('/') + 1))
  const replicator = createReplicator(
    { ...replicationSettings(settings), ...limits },
    {
      ledger,
      topic: p2p.topic,
      channels: p2p.channels,
      clock,
      random,
      logger: log,
      compression: zlibCompression,
      expectedMembers: () =>
        expectMembers({ named, peers: p2p.peers(), isNear: isNear(p2p), isLonely: isLonely(ledger) }),
    },
  )
  cleanUps.add(() => replicator.stop())
  await replicator.start()
  api.show({ replicator })
  cleanUps.add(() => api.server.endKeptWrites())
  cleanUps.add(() => init.leases.stop())
  const { channels, publicTopic, topic } = p2p
  await trust?.start({ channels, publicTopic, topicPeers: () => topic.peers() }, (entries) =>
    replicator.publish(entries),
  )
  signal.throwIfAborted()

  for (const announcement of init.announcements) cleanUps.add(announce(announcement, { ledger, replicator }))
  const standing = p2p.allTransportsReady.then(() => {
    if (signal.aborted) return
    const addressCount = p2p.addresses().length
    log.info('all transports listening', { addressCount, afterMs: Math.round(uptimeMs()) })
  })
  const { joinServices } = await import('./join-services.ts')
  const joined = await joinServices({ ...init, p2p, replicator }, cleanUps)
  signal.throwIfAborted()
  if (init.hasVpn) {
    const { joinVpn } = await import('./join-vpn.ts')
    await joinVpn({ ...init, p2p, replicator }, cleanUps)
  }
  if (settings.dns.length > 0) {
    await init.dns.listen(init.needsDns, (host, port) => init.onDns(formatPlace(host, port)))
    const { configureResolver } = await import('../resolver/configure-resolver.ts')
    if (settings.dnsConfigure) await configureResolver(init, cleanUps)
  }
  await standing
  signal.throwIfAborted()
  if (!init.hasVpn) {
    const { transferLeadership } = await import('@mesh/vpn')
    const initialSync = () => replicator.ready()
    const legacyMembers = () => replicator.status().legacyMembers
    cleanUps.add(
      transferLeadership({ ledger, initialSync, legacyMembers, clock, random, log: log.child('vpn') }),
    )
  }
  return { ...joined, addresses: () => p2p.addresses() }
}

/** Gives the function that marks the host's sockets as the engine marks its own. */
async function socketMark(mark: number): Promise<(fd: number) => void> {
  const { markSocket } = await import('@mesh/engine')
  return (fd) => markSocket(fd, mark)
}

/**
 * Gives what keeps the host's connections alive on narrow paths; the engine's addon can do it on Linux. Packets that UDP does not take go
 * by these connections. A node without a VPN needs it too: it may relay, and the dialler decides the segments of both ends.
 */
async function narrowPaths(): Promise<Pick<P2pNodeInit, 'capSegments' | 'allowFragments'>> {
  if (process.platform !== 'linux') return {}
  const { allowFragments, capSegments } = await import('@mesh/engine')
  return {
    capSegments: (fd) => orAsOthers(() => capSegments(fd, SEGMENT_BYTES)),
    allowFragments: (fd) => orAsOthers(() => allowFragments(fd)),
  }
}

/** A connection that cannot be prepared is as good as those of other programs. */
function orAsOthers(prepare: () => void): void {
  try {
    prepare()
  } catch {
    // and so it stays
  }
}

/** Was somebody of this network found on this link? */
function isNear(p2p: Pick<P2pNode, 'discovery'>): boolean {
  return p2p.discovery().some(({ method, found = 0 }) => method === 'mdns' && found > 0)
}

/** Does the ledger tell of no other node? */
function isLonely(ledger: Ledger): boolean {
  for (const { key } of ledger.snapshot().entries(BUCKETS.healthcheck)) if (key !== ledger.self) return false
  return true
}

/**
 * Gives the key's bytes. With the public key beside it, libp2p need not compute it, which takes tens of
 * milliseconds.
 */
function keyPairOf({ seed, publicKey }: Identity): Uint8Array {
  return Buffer.concat([seed, publicKey])
}

/** Gives the host what it is told of the settings. */
export function networkSettings(settings: Settings): Omit<P2pNodeInit, 'network' | 'identity'> {
  const vpnRanges = settings.address.length > 0 ? settings.address : [DEFAULT_VPN_RANGE]
  const ranges = [...vpnRanges, ...settings.blacklist].flatMap((text) => {
    const parsed = tryParseAddressInRange(text)
    return parsed === undefined ? [] : [parsed.range]
  })
  return {
    ...(settings.listenMaddrs.length > 0 && { listen: settings.listenMaddrs }),
    announce: settings.dhtAnnounceMaddrs,
    bootstrapPeers: settings.discoveryBootstrapPeers,
    peerExchange: settings.peerExchange,
    blockedRanges: ranges,
    blockedPeers: settings.blacklist.filter((text) => tryParsePeerId(text) !== undefined),
    maxConnections: settings.maxConnections,
    relayLimits: {
      maxBytes: settings.relayServiceMaxData,
      maxDurationMs: settings.relayServiceMaxDuration,
      maxCircuitsPerPeer: settings.relayServiceMaxCircuits,
      reservationMs: settings.relayServiceReservationTtl,
    },
    private: settings.private,
    rendezvousIntervalMs: settings.discoveryInterval,
    name: nameInForce(settings),
    userAgent: `mesh/${version}`,
    switches: {
      tcp: settings.tcp,
      quic: settings.quic,
      ws: settings.websocket,
      webrtc: settings.webrtc,
      ...(settings.webrtcDirect && { webrtcDirect: true }),
      mdns: settings.mdns,
      dht: settings.dht,
      relayClient: settings.autorelay,
      relayService: settings.relayService,
      autonat: settings.natservice,
      upnp: settings.natmap,
      holePunch: settings.holepunch,
    },
  }
}

/** Gives replication what it is told of the settings. */
export function replicationSettings(settings: Settings): ReplicatorInit {
  return {
    heartbeatIntervalMs: settings.alivenessHealthcheckInterval,
    livenessMs: settings.ownershipTtl,
    scrubIntervalMs: settings.alivenessHealthcheckScrubInterval,
    maxLedgerEntries: settings.ledgerMaxEntries,
  }
}
