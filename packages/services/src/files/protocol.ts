/** The protocol between our own nodes: names, folders, hashes, going on after a break (docs/PROTOCOLS.md, 'Files'). */
export const FILE_PROTOCOL = '/mesh/file/1'
/** The protocol of legacy members: the bytes of one file and nothing else (docs/WIRE.md 5.3). */
export const LEGACY_FILE_PROTOCOL = '/edgevpn/file/0.1'
