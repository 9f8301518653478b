/**
 * Changes what this node offers beside packets, and what it connects to, while it runs; for the machine
 * itself alone.
 */
import { Problem } from '../messages/problem.ts'
import { LOOK_TIMEOUT_MS } from '../limits.ts'
import type { OfferShelf, OffersPort } from '../offers-port.ts'
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
  | 'uploadNodeFile'
  | 'lookIntoFile'
  | 'receiveNodeFile'
  | 'listNodeDownloads'
  | 'getNodeDownload'
  | 'putNodeDownload'
  | 'deleteNodeDownload'
  | 'getNodeEgress'

/** @param offers undefined until the node has joined its network */
export function createOfferHandlers(offers: () => OffersPort | undefined): HandlersOf<OfferRoutes> {
  const running = () => {
    const port = offers()
    if (port === undefined) throw new Problem('services.not_running')
    return port
  }
  const services = shelfHandlers(() => running().services)
  const connections = shelfHandlers(() => running().connections)
  const files = shelfHandlers(() => running().files)
  const downloads = shelfHandlers(() => running().downloads)
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
    uploadNodeFile: ({ name, from, of }, { bytes }) =>
      running().upload({ name, from, totalBytes: of, bytes }),
    lookIntoFile: ({ name }) => running().look(name, AbortSignal.timeout(LOOK_TIMEOUT_MS)),
    async receiveNodeFile({ name }) {
      await running().receive(name)
      return downloads.get({ name })
    },
    listNodeDownloads: downloads.list,
    getNodeDownload: downloads.get,
    putNodeDownload: ({ name, body }) => downloads.put(name, body.Destination),
    deleteNodeDownload: downloads.remove,
    getNodeEgress: () => running().egress(),
  }
}

function shelfHandlers<View extends { readonly Name: string }>(shelf: () => OfferShelf<View>) {
  const get = ({ name }: { readonly name: string }): View => {
    const found = shelf()
      .list()
      .find(({ Name }) => Name === name)
    if (found !== undefined) return found
    throw new Problem('services.unknown', `nothing here has the name ${JSON.stringify(name)}`)
  }
  return {
    get,
    list: (): View[] => [...shelf().list()],
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
