/** The libp2p host at its smallest: what must stand before anything else can join it. */
import { gossipsub, type GossipSub, type GossipsubOpts } from '@libp2p/gossipsub'
import { type Identify, identify, type IdentifyPush, identifyPush } from '@libp2p/identify'
import type {
  Connection,
  ConnectionGater,
  Ed25519PrivateKey,
  Libp2p,
  Metrics,
  Startable,
  Transport,
} from '@libp2p/interface'
import type {
  AddressManager,
  ConnectionManager,
  RandomWalk,
  Registrar,
  TransportManager,
} from '@libp2p/interface-internal'
import { noise } from '@libp2p/noise'
import { ping } from '@libp2p/ping'
import type { Clock } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import { createLibp2p, type Libp2pOptions } from 'libp2p'
import { IDENTIFY_TIMEOUT_MS, MAX_INBOUND_PER_SECOND, SPARE_CONNECTIONS } from './limits.ts'
import { PENDING_INBOUND } from '../limits.ts'
import { boundPeerIds } from '../addresses/peer-id-lengths.ts'
import { muxer } from '../muxer/index.ts'
import { isInDoubt } from './liveness.ts'
import { quietLogger } from './quiet-logger.ts'

/** The inner parts of libp2p, which transports and services that join later are made of. */
export interface HostComponents
  extends Pick<Libp2p, 'peerId' | 'peerStore' | 'logger' | 'contentRouting' | 'peerRouting'> {
  readonly transportManager: TransportManager
  readonly connectionManager: ConnectionManager
  readonly addressManager: AddressManager
  readonly registrar: Registrar
  readonly randomWalk: RandomWalk
  [name: string]: unknown
}

export type MeshHost = Libp2p<{
  readonly identify: Identify
  readonly identifyPush: IdentifyPush
  readonly pubsub: GossipSub
  readonly parts: { readonly components: HostComponents }
}>

interface BaseHostInit {
  readonly privateKey: Ed25519PrivateKey
  readonly listen: readonly string[]
  /** The addresses to announce in place of those that the transports say. */
  readonly announce: readonly string[]
  readonly transports: NonNullable<Libp2pOptions['transports']>
  readonly gossip: Partial<GossipsubOpts>
  readonly gate: ConnectionGater
  /** Chooses, of all addresses of this node, those that others are told. */
  readonly announced: (addresses: readonly Multiaddr[]) => Multiaddr[]
  readonly metrics: (connections: () => readonly Connection[]) => Metrics
  readonly userAgent: string
  readonly clock: Clock
  /** How many connections stand at a time in all, unproven ones included; the guard closes those that are too many. */
  readonly maxConnections: number
}

/** Creates the host; its `start()` makes it listen. */
export async function createBaseHost(init: BaseHostInit): Promise<MeshHost> {
  boundPeerIds()
  const host = await createLibp2p({
    start: false,
    logger: quietLogger,
    privateKey: init.privateKey,
    nodeInfo: { userAgent: init.userAgent },
    addresses: {
      listen: [...init.listen],
      announce: [...init.announce],
      announceFilter: init.announced,
    },
    transports: init.transports,
    connectionEncrypters: [noise()],
    streamMuxers: [muxer(init.clock)],
    connectionGater: init.gate,
    connectionManager: {
      // the guard has the bounds; what libp2p refuses by itself it refuses to members, too
      maxConnections: init.maxConnections + SPARE_CONNECTIONS,
      inboundConnectionThreshold: MAX_INBOUND_PER_SECOND,
      maxIncomingPendingConnections: PENDING_INBOUND.all + SPARE_CONNECTIONS,
    },
    connectionMonitor: { enabled: false },
    // the connection manager is made later than this
    metrics: (components: { readonly connectionManager: ConnectionManager }) =>
      init.metrics(() => components.connectionManager.getConnections()),
    services: {
      identify: identify({ timeout: IDENTIFY_TIMEOUT_MS }),
      identifyPush: identifyPush(),
      // the DHT pings by it; who answers pings is bounded (`answer-pings.ts`)
      ping: ping(),
      pubsub: gossipsub(init.gossip),
      parts: (components: unknown) => ({ components: components as HostComponents }),
    },
  })
  const made = host as unknown as MeshHost
  replaceGetConnections(made.services.parts.components.connectionManager)
  return made
}

/**
 * Gives the connections of one peer without those in doubt: libp2p's relays, circuits and WebRTC use the first one. Gives those of
 * all peers from one list, because libp2p 3 copies the list for each peer, and asks for it with each connection and stream.
 */
function replaceGetConnections(connectionManager: ConnectionManager): void {
  const connections = connectionManager.getConnections.bind(connectionManager)
  const byPeer = connectionManager.getConnectionsMap()
  connectionManager.getConnections = (peer) =>
    peer === undefined
      ? [...byPeer.values()].flat()
      : connections(peer).filter((connection) => !isInDoubt(connection))
}

/** Adds a transport to a running host and makes it listen; identify tells the peers. */
export async function joinTransport(
  host: MeshHost,
  build: (components: never) => Transport & Partial<Startable>,
  listen: readonly Multiaddr[],
): Promise<void> {
  const { components } = host.services.parts
  const transport = build(components as never)
  await startPart(host, transport[Symbol.toStringTag], transport)
  components.transportManager.add(transport)
  if (listen.length > 0) await components.transportManager.listen([...listen])
}

/** Adds a service to a running host; libp2p stops it with the others. */
export async function joinService<T>(
  host: MeshHost,
  name: string,
  build: (components: never) => T,
): Promise<T> {
  const service = build(host.services.parts.components as never)
  await startPart(host, name, service)
  return service
}

async function startPart(host: MeshHost, name: string, part: unknown): Promise<void> {
  // libp2p keeps its parts by name and stops all of them
  host.services.parts.components[name] = part
  const life = part as Partial<Startable>
  await life.beforeStart?.()
  await life.start?.()
  await life.afterStart?.()
}
