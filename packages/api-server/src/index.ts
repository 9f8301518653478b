/**
 * Serves the HTTP API and the web page of a mesh node with Express.
 *
 * @example
 * ```ts
 * import { createApiServer, parseListenAddress } from '@mesh/api-server'
 * import { silentLogger, systemClock, systemRandom } from '@mesh/core'
 * import { createLedger, createSigner } from '@mesh/ledger'
 * const ledger = createLedger({}, { signer: createSigner(systemRandom.bytes(32)) })
 * const version = { version: '0.1.0', protocols: () => [] }
 * const health = { problems: () => [], ready: () => true }
 * const parts = { ledger, version, health, clock: systemClock, random: systemRandom, logger: silentLogger }
 * const server = createApiServer({}, parts)
 * const listener = await server.listen(parseListenAddress('127.0.0.1:0'))
 * console.log(listener.url)
 * await server.stop()
 * ```
 */
export {
  type ApiToken,
  createToken,
  isTokenText,
  parseTokenLine,
  parseTokenList,
  TOKEN_LEVELS,
  type TokenLevel,
  type TokenList,
} from './auth/token-list.ts'
export type { GuardInit } from './http/guard.ts'
export {
  formatListenAddress,
  type ListenAddress,
  type ListenErrorCode,
  parseListenAddress,
} from './listen/listen-address.ts'
export type { ApiListener } from './listen/open-listener.ts'
export type { DebugPort, ProfileRequest } from './debug-port.ts'
export type { DoctorPort, LogLevelName, LogPort, SettingsPort } from './operation-ports.ts'
export type { OfferShelf, OffersPort, UploadPiece } from './offers-port.ts'
export type {
  AccessPort,
  RulesPort,
  ApiServerComponents,
  Asset,
  AssetsPort,
  BrowserMembersPort,
  DnsPort,
  LeasesPort,
  HealthPort,
  HealthProblem,
  Metric,
  NetworkEvent,
  NetworkPort,
  NodePort,
  PeerProbe,
  PeerState,
  TokensPort,
  TrafficPort,
  TrafficStats,
  VersionPort,
  WebSocketAddress,
} from './ports.ts'
export type { PathReport } from './path-report.ts'
export { counter, gauge, labelled } from './views/metric-families.ts'
export type { VpnPort } from './vpn-port.ts'
export { type ApiServer, type ApiServerInit, createApiServer } from './server.ts'
