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
export type { FilesErrorCode } from './files/errors.ts'
export {
  createFileSharing,
  type FileOffer,
  type FileSharing,
  type FileSharingComponents,
} from './files/file-sharing.ts'
export type { FileChannel, FileChannels, FilesComponents, FilesNetwork } from './files/ports.ts'
export {
  type ReceivedFile,
  receiveFile,
  type ReceiveFileComponents,
  type ReceiveFileInit,
  type ReceiveState,
} from './files/receive-file.ts'
export type { TransferProgress } from './files/transfer-progress.ts'
