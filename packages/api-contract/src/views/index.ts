/**
 * The types of what the API answers with, in the field names of the OpenAPI document. Each
 * schema is made when it is first asked for: a node that starts needs none of them.
 */
export type { AdmissionView } from './access.ts'
export type { DnsView, DnsServerView, NameResolutionView } from './dns.ts'
export type {
  SignedEntryView,
  BlockView,
  BucketView,
  LedgerView,
  DigestView,
  WriteView,
  BucketDeleteView,
} from './ledger.ts'
export type {
  SummaryView,
  UserView,
  ServiceView,
  FileView,
  MachineView,
  NodeView,
  PeerView,
  PeerPingView,
} from './members.ts'
export type {
  NodeFactsView,
  VersionView,
  HealthView,
  LogLevelView,
  ReachabilityView,
} from './node.ts'
export type {
  NodeServiceView,
  NodeTransferView,
  NodeConnectionView,
  NodeEgressView,
  NodeFileView,
  RemovedView,
} from './offers.ts'
export type { StatsView } from './traffic.ts'
export type { GuestConfigurationView, GuestView } from './guests.ts'
export type { VpnPeerView, VpnView, VpnPingView } from './vpn.ts'
