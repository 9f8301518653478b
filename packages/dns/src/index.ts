/** Which address has a name: the zone and patterns of a network's ledger, a forwarder, and a server on UDP and TCP. */
export { createDns, type Dns } from './create-dns.ts'
export type {
  BoundAddress,
  DnsComponents,
  DnsInit,
  DnsListenAddress,
  DnsProblem,
  DnsStatus,
  ForwardInit,
} from './dns.ts'
export type { DnsErrorCode } from './errors.ts'
export type { Loser, LoserReason, NameExplanation } from './explain.ts'
export type { ForwarderStatus } from './forwarder/forwarder.ts'
export type { ForwardServer, ServerStatus } from './forwarder/servers.ts'
export { encodeRecordData } from './zone/record-data.ts'
export { OUTCOMES, type Outcome } from './server/responder.ts'
