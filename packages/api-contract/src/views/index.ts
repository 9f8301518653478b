/**
 * The types of what the API answers with, in the field names of the OpenAPI document. Each
 * schema is made when it is first asked for: a node that starts needs none of them.
 */
export type { AdmissionView } from './access.ts'
export type { DnsView, NameResolutionView } from './dns.ts'
export type { DnsServerView } from './dns-server.ts'
export type { SignedEntryView, BlockView, BucketView, LedgerView, DigestView } from './ledger.ts'
export type { WriteView, BucketDeleteView, KeptWriteView } from './write.ts'
export type { LeaseView } from './leases.ts'
export type { SummaryView, UserView, ServiceView, FileView, MachineView, NodeView } from './members.ts'
export type { BlocksView, KeptBlockView } from './kept-blocks.ts'
export type { PathReportView } from './paths.ts'
export type { PeerView, PeerPingView } from './peer.ts'
export type { NodeFactsView, ReachabilityView } from './node.ts'
export type { VersionView } from './version.ts'
export type { HealthView, LogLevelView } from './health.ts'
export type { LogLinesView } from './log.ts'
export type { CheckView, SettingView } from './doctor.ts'
export type {
  NodeServiceView,
  NodeConnectionView,
  NodeDownloadView,
  NodeEgressView,
  NodeFileView,
  RemovedView,
  SharedFilesView,
  UploadView,
} from './offers.ts'
export type {
  RulesCheckView,
  RulesTestView,
  RulesView,
  RulesWhoView,
  SignedRulesView,
} from './rules.ts'
export type { StatsView } from './traffic.ts'
export type { TrafficHistoryView } from './traffic-history.ts'
export type { GuestConfigurationView, GuestView } from './guests.ts'
export type { VpnPeerView, VpnView, VpnPingView } from './vpn.ts'
