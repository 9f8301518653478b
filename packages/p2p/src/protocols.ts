/** The protocol ids that this package speaks, in one place. */

// Our own (docs/PROTOCOLS.md)

/** The id of the proof of membership, which is given once for each connection. */
export const MEMBER_PROTOCOL = '/mesh/member/1'

/** The id of the protocol by which members pass on members' signed peer records. */
export const PEERS_PROTOCOL = '/mesh/peers/1'

/** The id of the protocol by which members tell how they reach other members. */
export const PATHS_PROTOCOL = '/mesh/paths/1'

/** Agrees on TLS connections beside libp2p's (docs/PROTOCOLS.md, 'Bulk: `/mesh/bulk/1`'). */
export const BULK_PROTOCOL = '/mesh/bulk/1'

/** All own protocols begin with this; their streams are between proven members only. */
export const OWN_PROTOCOL_PREFIX = '/mesh/'

/** All protocols of legacy members begin with this. */
export const LEGACY_PROTOCOL_PREFIX = '/edgevpn/'

// libp2p's

/** AutoNAT's request: while such a stream is open, the peer that answers it dials the one that asked. */
export const AUTONAT_REQUEST_PROTOCOL = '/libp2p/autonat/2/dial-request'
/** The stream on which a peer asks a relay for a reservation or a circuit. */
export const RELAY_HOP = '/libp2p/circuit/relay/0.2.0/hop'
/** The stream on which a relay brings a circuit to its destination. */
export const RELAY_STOP = '/libp2p/circuit/relay/0.2.0/stop'
/** The stream by which two peers that a relay joins dial each other at the same time. */
export const HOLE_PUNCH_PROTOCOL = '/libp2p/dcutr'
/** The streams on which a peer says what it is, asked and unasked. */
export const IDENTIFY_PROTOCOLS: readonly string[] = ['/ipfs/id/1.0.0', '/ipfs/id/push/1.0.0']
/** The id of the public DHT. */
export const PUBLIC_DHT_PROTOCOL = '/ipfs/kad/1.0.0'
/** The id of the DHT of private networks, which is made as the public one is. */
export const PRIVATE_DHT_PROTOCOL = '/mesh/kad/1.0.0'
/** The stream by which two peers agree on a WebRTC connection. */
export const WEBRTC_SIGNALLING_PROTOCOL = '/webrtc-signaling/0.0.1'
