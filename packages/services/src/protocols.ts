/** The protocol ids that this package speaks, in one place (docs/PROTOCOLS.md). */

/** A connection or a UDP session with a named service of the peer. */
export const SERVICE_PROTOCOL = '/mesh/service/1'
/** A connection to a host and port that the peer dials. */
export const EGRESS_PROTOCOL = '/mesh/egress/1'
/** Wire: legacy members' services, one for each node, without a name. */
export const LEGACY_SERVICE_PROTOCOL = '/edgevpn/service/0.1'
/** Wire: legacy members' egress, one HTTP request for each stream. */
export const LEGACY_EGRESS_PROTOCOL = '/edgevpn/egress/0.1'
/** The protocol between our own nodes: names, folders, hashes, going on after a break (docs/PROTOCOLS.md, 'Files'). */
export const FILE_PROTOCOL = '/mesh/file/1'
/** The protocol of legacy members: the bytes of one file and nothing else (docs/WIRE.md 5.3). */
export const LEGACY_FILE_PROTOCOL = '/edgevpn/file/0.1'
