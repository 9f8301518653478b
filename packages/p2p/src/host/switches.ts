/** What a node on a machine may be told to do and not to do, with what it does when told nothing. */
import type { MeshNodeInit } from './mesh-node.ts'

/**
 * Each can be turned off alone; QUIC must be turned on. Between ours 1,000 of 1,000 streams of one packet arrive
 * (test/quic.test.ts), but of an original node's, which sends each IP packet on a stream of its own, 505 of 3,110 pings
 * came back, where TCP answered 1,000 of 1,000 (libp2p-quic 2.1.1; the cause was not found).
 */
export interface Switches {
  readonly tcp: boolean
  readonly quic: boolean
  readonly ws: boolean
  /** For browsers. */
  readonly webrtcDirect: boolean
  /** Between two members behind NATs, with a relay to signal over. */
  readonly webrtc: boolean
  readonly mdns: boolean
  /** Rendezvous in the public DHT; with `private` in one of our own, and only without `peerExchange`. */
  readonly dht: boolean
  /** Reserves at members that relay. */
  readonly relayClient: boolean
  /** Relays for members, and answers them STUN. */
  readonly relayService: boolean
  readonly autonat: boolean
  readonly upnp: boolean
  readonly holePunch: boolean
}

export const DEFAULT_SWITCHES: Switches = {
  tcp: true,
  quic: false,
  ws: true,
  webrtcDirect: true,
  webrtc: true,
  mdns: true,
  dht: true,
  relayClient: true,
  relayService: true,
  autonat: true,
  upnp: true,
  holePunch: true,
}

export interface P2pNodeInit extends MeshNodeInit {
  /** Multiaddrs; default all interfaces with any port, for each transport that is on. */
  readonly listen?: readonly string[]
  readonly switches?: Partial<Switches>
  /** No public DHT, no public bootstrap, no UPnP. Default false. */
  readonly private?: boolean
  /** Between two looks into the DHT once members were found. Default 720 s. */
  readonly rendezvousIntervalMs?: number
}
