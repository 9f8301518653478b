/** Between our own nodes: names, folders, hashes, going on after a break. docs/PROTOCOLS.md describes it. */
export const FILE_PROTOCOL = '/mesh/file/1'
/** Of legacy members: the bytes of one file and nothing else. */
export const LEGACY_FILE_PROTOCOL = '/edgevpn/file/0.1'
