/** The protocol ids that this package speaks, in one place. */

/** Proof of membership, once for each connection (docs/PROTOCOLS.md). */
export const MEMBER_PROTOCOL = '/mesh/member/1'

/** Members pass on members' signed peer records (docs/PROTOCOLS.md). */
export const PEERS_PROTOCOL = '/mesh/peers/1'

/** Agrees on TLS connections beside libp2p's (docs/PROTOCOLS.md, 'Bulk: `/mesh/bulk/1`'). */
export const BULK_PROTOCOL = '/mesh/bulk/1'

/** All own protocols begin with this; their streams are between proven members only. */
export const OWN_PROTOCOL_PREFIX = '/mesh/'
/** A stream that asks a relay for a reservation or a circuit. */
export const RELAY_HOP = '/libp2p/circuit/relay/0.2.0/hop'
/** A stream by which a relay brings a circuit. */
export const RELAY_STOP = '/libp2p/circuit/relay/0.2.0/stop'
/** AutoNAT's: while such a stream is open, the one that answers it dials the one that asked. */
export const AUTONAT_REQUEST_PROTOCOL = '/libp2p/autonat/2/dial-request'
