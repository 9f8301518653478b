/** Views of files that this node offers or fetches. */
import type { NodeDownloadView, NodeFileView } from '@mesh/api-contract'
import type { FetchedFile, OfferedFile } from '../offers-port.ts'

export function fileView({
  name,
  path,
  state,
  owner,
  leftOut,
  completed,
  receivers,
  lastError,
  isKept,
}: OfferedFile): NodeFileView {
  return {
    Name: name,
    Path: path,
    State: state,
    Owner: owner ?? null,
    LeftOut: leftOut.count,
    LeftOutNames: [...leftOut.names],
    Completed: completed,
    Receivers: receivers.map(({ peer, path: way, transport, bytes, totalBytes, rate }) => ({
      PeerID: peer,
      Path: way,
      Transport: transport ?? null,
      Bytes: bytes,
      TotalBytes: totalBytes ?? null,
      Rate: rate,
    })),
    LastError: lastError ?? null,
    Kept: isKept,
  }
}

export function downloadView(file: FetchedFile): NodeDownloadView {
  return {
    Name: file.name,
    Destination: file.destination,
    State: file.state,
    Provider: file.provider ?? null,
    Path: file.path ?? null,
    Transport: file.transport ?? null,
    Files: file.fileCount ?? null,
    Bytes: file.bytes,
    TotalBytes: file.totalBytes ?? null,
    Rate: Math.round(file.rate),
    LeftMs: file.leftMs === undefined ? null : Math.round(file.leftMs),
    LeftOut: file.leftOut?.count ?? null,
    LeftOutNames: [...(file.leftOut?.names ?? [])],
    WrittenTo: file.writtenTo ?? null,
    Verified: file.isVerified ?? null,
    LastError: file.lastError ?? null,
    ErrorCode: file.errorCode ?? null,
    Hint: file.hint ?? null,
  }
}
