/** Which peer gets this packet, and by which way: the table, sessions, streams and address leases of a node. */
export type {
  ByteStream,
  ByteStreams,
  PeerPath,
  VpnChannel,
  VpnChannels,
  VpnLedger,
  VpnNetwork,
} from './ports.ts'
