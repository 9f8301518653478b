/** Views of what this node offers to members and takes of them. */
import type {
  NodeConnectionView,
  NodeDownloadView,
  NodeEgressView,
  NodeFileView,
  NodeServiceView,
} from '@mesh/api-contract'
import type {
  FetchedFile,
  LocalProxy,
  OfferedConnection,
  OfferedEgress,
  OfferedFile,
  OfferedService,
} from '../offers-port.ts'

export function serviceView(state: OfferedService): NodeServiceView {
  return {
    Name: state.name,
    Target: state.target,
    State: state.state,
    Owner: state.owner ?? null,
    ...trafficView(state),
    LastError: state.lastError ?? null,
    Kept: state.isKept,
  }
}

export function connectionView(state: OfferedConnection): NodeConnectionView {
  return {
    Name: state.name,
    Listen: state.listen,
    State: state.state,
    Provider: state.provider ?? null,
    Path: state.path ?? null,
    Transport: state.transport ?? null,
    ...trafficView(state),
    LastError: state.lastError ?? null,
    Kept: state.isKept,
  }
}

function trafficView({
  openConnections,
  connections,
  bytesIn,
  bytesOut,
}: OfferedService | OfferedConnection | OfferedEgress | LocalProxy) {
  return {
    OpenConnections: openConnections,
    Connections: connections,
    BytesIn: bytesIn,
    BytesOut: bytesOut,
  }
}

export function egressView(
  offered: OfferedEgress | undefined,
  proxy: LocalProxy | undefined,
): NodeEgressView {
  return {
    Offered: offered === undefined ? null : { ...trafficView(offered), Refusals: { ...offered.refusals } },
    Proxy:
      proxy === undefined
        ? null
        : {
            Listen: proxy.listen,
            Egress: proxy.egress ?? null,
            Path: proxy.path ?? null,
            Transport: proxy.transport ?? null,
            ...trafficView(proxy),
            LastError: proxy.lastError ?? null,
          },
  }
}

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
    LeftOut: leftOut,
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
    WrittenTo: file.writtenTo ?? null,
    Verified: file.isVerified ?? null,
    LastError: file.lastError ?? null,
    ErrorCode: file.errorCode ?? null,
    Hint: file.hint ?? null,
  }
}
