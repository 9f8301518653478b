/**
 * This package holds what a member offers the others beside packets: services over TCP, UDP and unix sockets,
 * egress, HTTP and SOCKS proxy. Node only.
 */
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
export type { FilesErrorCode } from './files/errors.ts'
export { FileSharing, type FileOffer } from './files/file-sharing.ts'
export { Downloads, type Download, type DownloadInit, type DownloadState } from './files/downloads.ts'
export type { FileChannel, FileChannels, FilesComponents, FilesNetwork } from './files/ports.ts'
export {
  type ReceivedFile,
  receiveFile,
  type ReceiveFileInit,
  type ReceiveState,
} from './files/receive-file.ts'
export { listShare } from './files/list-share.ts'
export type { OfferedManifest } from './files/receive-manifest.ts'
export type { LeftOut } from './files/left-out.ts'
export type { TransferProgress } from './files/transfer-progress.ts'
export {
  createEgress,
  type Egress,
  type EgressComponents,
  type EgressInit,
  type EgressStatus,
} from './egress/create-egress.ts'
export {
  createProxy,
  type Proxy,
  type ProxyComponents,
  type ProxyInit,
  type ProxyStatus,
} from './proxy/create-proxy.ts'
export { fetchOver } from './http/fetch-over.ts'
export { serviceNameIn } from './http/service-url.ts'
export { createServices, type Services } from './services/create-services.ts'
export type {
  NamedAddress,
  ServedHere,
  ServicesComponents,
  ServicesEvent,
  ServicesInit,
} from './services/services.ts'
export type {
  ConnectedState,
  ConnectedStatus,
  ExposedState,
  ExposedStatus,
  ServicesProblem,
  ServicesStatus,
} from './services/status.ts'
export type { AcceptConnection, ProgramTarget } from './services/target.ts'
export type { OfferRules, RuledOffer } from './users/offer-rules.ts'
export { createOwnUser, type OwnUser } from './users/own-user.ts'
export { SERVED_CONNECTIONS } from './limits.ts'
export { createUnwritten } from './streams/unwritten.ts'
