/**
 * Changes what this node offers beside packets, and what it connects to, while it runs; for the machine
 * itself alone.
 */
import type {
  NodeConnectionView,
  NodeEgressView,
  NodeFileView,
  NodeServiceView,
  NodeTransferView,
} from '@mesh/api-contract'
import { Problem } from '../http/problem.ts'
import type {
  LocalProxy,
  OfferedConnection,
  OfferedEgress,
  OfferedFile,
  OfferedService,
  OfferShelf,
  OffersPort,
  ReceivingTransfer,
} from '../offers-port.ts'
import type { HandlersOf } from './handler.ts'

type OfferRoutes =
  | 'listNodeServices'
  | 'getNodeService'
  | 'putNodeService'
  | 'deleteNodeService'
  | 'listNodeConnections'
  | 'getNodeConnection'
  | 'putNodeConnection'
  | 'deleteNodeConnection'
  | 'listNodeFiles'
  | 'getNodeFile'
  | 'putNodeFile'
  | 'deleteNodeFile'
  | 'listNodeTransfers'
  | 'getNodeEgress'

/** @param offers undefined until the node has joined its network */
export function createNodeOffers(offers: () => OffersPort | undefined): HandlersOf<OfferRoutes> {
  const running = () => {
    const port = offers()
    if (port === undefined) throw new Problem('services.not_running')
    return port
  }
  const services = shelfHandlers(() => running().services, serviceView)
  const connections = shelfHandlers(() => running().connections, connectionView)
  const files = shelfHandlers(() => running().files, fileView)
  return {
    listNodeServices: services.list,
    getNodeService: services.get,
    putNodeService: ({ name, body }) => services.put(name, body.Target),
    deleteNodeService: services.remove,
    listNodeConnections: connections.list,
    getNodeConnection: connections.get,
    putNodeConnection: ({ name, body }) => connections.put(name, body.Listen),
    deleteNodeConnection: connections.remove,
    listNodeFiles: files.list,
    getNodeFile: files.get,
    putNodeFile: ({ name, body }) => files.put(name, body.Path),
    deleteNodeFile: files.remove,
    listNodeTransfers: () => running().transfers().map(transferView),
    getNodeEgress: () => egressView(running().egress(), running().proxy()),
  }
}

function shelfHandlers<State extends { readonly name: string }, View>(
  shelf: () => OfferShelf<State>,
  viewOf: (state: State) => View,
) {
  const get = ({ name }: { readonly name: string }): View => {
    const state = shelf()
      .list()
      .find((each) => each.name === name)
    if (state === undefined)
      throw new Problem('services.unknown', `nothing here has the name ${JSON.stringify(name)}`)
    return viewOf(state)
  }
  return {
    get,
    list: (): View[] => shelf().list().map(viewOf),
    async put(name: string, place: string): Promise<View> {
      await shelf().put(name, place)
      return get({ name })
    },
    async remove({ name }: { readonly name: string }): Promise<{ readonly State: 'Removed' }> {
      get({ name })
      await shelf().remove(name)
      return { State: 'Removed' }
    },
  }
}

function serviceView(state: OfferedService): NodeServiceView {
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

function connectionView(state: OfferedConnection): NodeConnectionView {
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

function egressView(offered: OfferedEgress | undefined, proxy: LocalProxy | undefined): NodeEgressView {
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

function fileView({
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

function transferView(transfer: ReceivingTransfer): NodeTransferView {
  return {
    Name: transfer.name,
    Destination: transfer.destination,
    State: transfer.state,
    Provider: transfer.provider ?? null,
    Path: transfer.path ?? null,
    Transport: transfer.transport ?? null,
    Bytes: transfer.bytes,
    TotalBytes: transfer.totalBytes ?? null,
    Rate: transfer.rate,
    LastError: transfer.lastError ?? null,
  }
}
