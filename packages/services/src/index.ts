/** What a member offers the others beside packets: services over TCP, UDP and unix sockets, egress, proxy. */
export type { ServicesErrorCode } from './errors.ts'
export type {
  Announcer,
  ByteStream,
  ByteStreamOptions,
  ByteStreams,
  PeerPath,
  ServicesLedger,
  ServicesNetwork,
} from './ports.ts'
