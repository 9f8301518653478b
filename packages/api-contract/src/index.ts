/**
 * The HTTP API of a mesh node, defined once: routes, schemas, error codes, event types. Browser-safe. The OpenAPI
 * document is made under `./openapi`.
 *
 * @example
 * ```ts
 * import { errorCatalogue, routes } from '@mesh/api-contract'
 * console.log(routes.getEntry.path, errorCatalogue['ledger.not_owner'].hint)
 * ```
 */
export { dnsRecordsByName, dnsTypeName, tryParseDnsType } from './dns-types.ts'
export {
  type ErrorBody,
  type ErrorCode,
  type ErrorDescription,
  errorBody,
  errorCatalogue,
  hintOf,
  isErrorCode,
  retryAfterSecondsOf,
} from './errors.ts'
export { type ApiEvent, type EventData, type EventType, eventSchemas, eventTypes } from './events.ts'
export {
  EVENT_HEARTBEAT_MS,
  EVENT_HISTORY_SIZE,
  EVENT_RING_SIZE,
  EVENT_SILENCE_MS,
  KEPT_BLOCKS,
  KEPT_LOG_LINES,
  KEPT_TRAFFIC_STEPS,
  MAX_ADDRESS_BYTES,
  MAX_BODY_BYTES,
  MAX_BUCKET_BYTES,
  MAX_CHANGES_PER_EVENT,
  MAX_HEAD_BYTES,
  MAX_KEY_BYTES,
  MAX_LISTED_BLOCKS,
  MAX_PAGE_ENTRIES,
  MAX_PATH_BYTES,
  MAX_TOLD_FLOWS,
  MAX_TOLD_PATHS,
  MAX_UPLOAD_BYTES,
  MAX_UPLOAD_PIECE_BYTES,
  MAX_VALUE_BYTES,
  MAX_WAIT_MS,
  TRAFFIC_STEP_SECONDS,
} from './limits.ts'
export { type EntryPlace, entryPathOf } from './paging.ts'
export {
  type AccessLevel,
  type Answer,
  levelOf,
  type ParsedInput,
  type RouteDefinition,
  type RouteInput,
  type RouteOutput,
} from './route.ts'
export { type PagedRouteId, type RouteId, type Routes, routes } from './routes/index.ts'
export type {
  AdmissionView,
  BlockView,
  BlocksView,
  CheckView,
  BucketDeleteView,
  BucketView,
  DigestView,
  DnsServerView,
  DnsView,
  FileView,
  HealthView,
  KeptBlockView,
  LeaseView,
  LedgerView,
  LogLevelView,
  LogLinesView,
  MachineView,
  NameResolutionView,
  NodeConnectionView,
  NodeDownloadView,
  NodeEgressView,
  NodeFactsView,
  NodeFileView,
  NodeServiceView,
  NodeView,
  PathReportView,
  PeerPingView,
  PeerView,
  ReachabilityView,
  RemovedView,
  RulesCheckView,
  RulesTestView,
  RulesView,
  RulesWhoView,
  ServiceView,
  SettingView,
  SharedFilesView,
  SignedEntryView,
  SignedRulesView,
  StatsView,
  SummaryView,
  TrafficHistoryView,
  UploadView,
  UserView,
  VersionView,
  GuestConfigurationView,
  GuestView,
  VpnPeerView,
  VpnPingView,
  VpnView,
  KeptWriteView,
  WriteView,
} from './views/index.ts'
export { DROP_REASONS, type DropReason } from './drop-reasons.ts'
