/** The switches of a node on a machine, with their defaults. */
import type { P2pMemberInit } from './member-init.ts'

/**
 * The parts of a host. Each can be turned off alone. QUIC must be turned on: many streams of legacy nodes, which send each packet on a
 * stream of its own, are lost over it (libp2p-quic 2.1.1; `test/quic.test.ts`).
 */
export interface Switches {
  readonly tcp: boolean
  readonly quic: boolean
  readonly ws: boolean
  /** WebRTC with a certificate's hash in the address, for browsers. On, too, where an address to listen on asks for it. */
  readonly webrtcDirect: boolean
  /** WebRTC between two members behind NATs, with a relay to signal over. Loaded with the first relayed connection. */
  readonly webrtc: boolean
  readonly mdns: boolean
  /** The rendezvous in the public DHT; with `private` in a DHT of our own, and only without `peerExchange`. */
  readonly dht: boolean
  /** True when this node takes reservations at members that relay. */
  readonly relayClient: boolean
  /** True when this node relays for members, and answers them STUN. */
  readonly relayService: boolean
  readonly autonat: boolean
  readonly upnp: boolean
  readonly holePunch: boolean
}

/** The switches of a node that was told nothing. */
export const DEFAULT_SWITCHES: Switches = {
  tcp: true,
  quic: false,
  ws: true,
  webrtcDirect: false,
  webrtc: true,
  mdns: true,
  dht: true,
  relayClient: true,
  relayService: true,
  autonat: true,
  upnp: true,
  holePunch: true,
}

export interface P2pNodeInit extends P2pMemberInit {
  /** The multiaddrs to listen on; by default all interfaces with any port, for each transport that is on. */
  readonly listen?: readonly string[]
  readonly switches?: Partial<Switches>
  /** True keeps this node out of the public DHT, from its bootstrap peers and from UPnP; false by default. */
  readonly private?: boolean
  /**
   * Marks each TCP socket of this host by its file descriptor (SO_MARK). So routes into a VPN can let the packets of its own carrier
   * pass. WebRTC and QUIC stay off then, because nothing can mark their sockets.
   */
  readonly markSocket?: (fd: number) => void
  /**
   * Bounds the segments of each socket that dials beyond this machine's own links (TCP_MAXSEG), at both ends. Without it TCP repeats a
   * long segment for ever on a path that silently became narrow.
   */
  readonly capSegments?: (fd: number) => void
  /** Lets routers fragment IPv4 packets of sockets that listen, or dial beyond this machine's own links. */
  readonly allowFragments?: (fd: number) => void
  /** The time between two looks into the DHT once members were found, in ms; 720 s by default. */
  readonly rendezvousIntervalMs?: number
}
