/**
 * Joins what this node offers beside packets.
 *
 * 1. Connects services and egress with the host, the ledger and replication.
 * 2. Tells the API of them.
 * 3. Begins with what the settings name.
 */
import { resolve } from 'node:path'
import { Scope } from '@mesh/core/limits'
import type { P2pMember } from '@mesh/p2p/node'
import {
  Downloads,
  createEgress,
  FileSharing,
  createOwnUser,
  createProxy,
  createServices,
  createUnwritten,
  SERVED_CONNECTIONS,
  type DownloadInit,
  type Egress,
  type FilesNetwork,
  listShare,
  type NamedAddress,
  type Proxy,
  type ReceivedFile,
  receiveFile,
  type Services,
  type ServicesNetwork,
} from '@mesh/services'
import { parseFile, parseListen, parseOffer, parseRange } from '../settings/service-values.ts'
import { valuesOf } from '../settings/vpn-values.ts'
import { absoluteAddress } from '../settings/absolute-address.ts'
import { openKeptOffers } from '../state/kept-offers.ts'
import { processLines } from '../state/process-record.ts'
import type { JoinedInit } from './join-init.ts'
import type { CleanUps } from '../clean-ups.ts'
import { createNodeOffers } from '../offers/node-offers.ts'
import { createOfferRules } from '../access/rule-ports.ts'
import { ownAddresses } from '../machine/own-addresses.ts'
import { peerPorts } from './peer-ports.ts'

/** The event that a command which runs a node for one transfer waits for. */
export interface Sharing {
  /** Fetches a share by its name. @throws MeshError `files.*`; the signal's reason */
  receive(init: DownloadInit): Promise<ReceivedFile>
  /** Resolves when somebody has received an offer, or the signal aborts. False: without some of its entries. */
  received(signal: AbortSignal): Promise<boolean>
}

/** The services and files of a node that has joined. */
export interface JoinedServices {
  readonly services: Services
  readonly sharing: Sharing
}

/** @throws MeshError `services.*`, `files.*` */
export async function joinServices(init: JoinedInit, cleanUps: CleanUps): Promise<JoinedServices> {
  const { settings, base, folder, ledger, p2p, replicator, api, clock, random, log } = init
  const announce = (bucket: string, key: string, valueText: () => string) =>
    replicator.keepAnnounced(bucket, key, valueText)
  const user = createOwnUser({ ledger, announce, clock })
  cleanUps.add(() => user.stop())
  const network = servicesNetwork(p2p)
  const rules = createOfferRules(init.rules, ledger.self)
  const bounds = { connections: new Scope(SERVED_CONNECTIONS), unwritten: createUnwritten() }
  const components = { ledger, network, announce, user, rules, ...bounds, ownAddresses, clock, random, log }
  const services = createServices({ isSticky: settings.sticky }, components)
  cleanUps.add(() => services.stop())
  cleanUps.add(tellWhenReady(services, init.onService))
  const fileComponents = { ledger, network: filesNetwork(p2p), announce, user, rules, clock, log }
  const files = new FileSharing(fileComponents)
  cleanUps.add(() => files.stop())
  api.show({ services, files })
  await Promise.all([services.start(), files.start()])
  const downloads = new Downloads({
    processes: processLines(),
    fetch: (receiveInit) => receiveFile(receiveInit, fileComponents),
    look: (lookInit) => listShare(lookInit, fileComponents),
  })
  cleanUps.add(() => downloads.stop())
  const kept = openKeptOffers(settings.ephemeral ? undefined : folder, log.child('services'))
  let egress: Egress | undefined
  let proxy: Proxy | undefined
  const offers = createNodeOffers({
    services,
    files,
    downloads,
    kept,
    folder,
    clock,
    egress: () => egress,
    proxy: () => proxy,
    log: log.child('services'),
  })
  // relative paths count from where the person stands
  const withBase = ({ name, address }: NamedAddress) => ({ name, address: absoluteAddress(address, base) })
  await offers.begin({
    services: valuesOf(settings.serviceAdd, parseOffer).map(withBase),
    connections: valuesOf(settings.serviceConnect, parseListen).map(withBase),
    files: valuesOf(settings.fileSend, parseFile).map(({ name, address }) => ({
      name,
      address: resolve(base, address),
    })),
  })
  for (const { name, path } of files.offers()) init.onService(`File ${name}: members receive ${path}`)
  api.server.attachOffers(offers)
  if (settings.egress) {
    const allow = valuesOf(settings.egressAllow, parseRange)
    const started = createEgress({ allow }, { ...components, ownAddresses: () => addressesHere(p2p) })
    cleanUps.add(() => started.stop())
    await started.start()
    api.show({ egress: started })
    egress = started
  }
  if (settings.proxy !== undefined) {
    const { egressPeer } = settings
    const listen = absoluteAddress(settings.proxy, base)
    const started = createProxy({ listen, ...(egressPeer !== undefined && { egressPeer }) }, components)
    cleanUps.add(() => started.stop())
    await started.start()
    api.show({ proxy: started })
    proxy = started
    init.onService(`Proxy: HTTP and SOCKS5 on ${started.status().listen}`)
  }
  return { services, sharing: createSharing(files, downloads) }
}

function createSharing(files: FileSharing, downloads: Downloads): Sharing {
  return {
    receive: (receiveInit) => downloads.receive(receiveInit),
    received: (signal) =>
      new Promise((done) => {
        const end = (isWhole: boolean) => {
          stop()
          done(isWhole)
        }
        const stop = files.onChange(() => {
          const received = files.offers().find(({ completed }) => completed > 0)
          if (received !== undefined) end(received.leftOut.count === 0 && received.lastError === undefined)
        })
        signal.addEventListener('abort', () => end(false), { once: true })
      }),
  }
}

/** Those of the interfaces, and those by which others reach this node: behind them is its own router. */
function addressesHere(p2p: P2pMember): readonly string[] {
  const local = ownAddresses().map((address) => address.replace(/%.*$/, ''))
  const outward = p2p.addresses().flatMap((address) => {
    const ip = /^\/ip[46]\/([^/]+)/.exec(address)?.[1]
    return ip === undefined || address.includes('/p2p-circuit') ? [] : [ip]
  })
  return [...local, ...outward]
}

/** A line when a service is offered for the first time, and one when a connection listens. */
function tellWhenReady(services: Services, tell: (line: string) => void): () => void {
  const told = new Set<string>()
  return services.subscribe((event) => {
    const { type, name, status } = event
    if (status === undefined || told.has(`${type} ${name}`)) return
    if (type === 'service' && status.state !== 'announced') return
    told.add(`${type} ${name}`)
    if ('target' in status) tell(`Service ${name}: members reach ${status.target}`)
    else tell(`Service ${name}: reached on ${status.listen}`)
  })
}

function filesNetwork(p2p: P2pMember): FilesNetwork {
  return { ...servicesNetwork(p2p), channels: p2p.channels }
}

function servicesNetwork(p2p: P2pMember): ServicesNetwork {
  // no connection is to end sooner for it
  const noHurry = AbortSignal.abort(new Error('no connection is to end sooner'))
  return { self: p2p.self, ...peerPorts(p2p), check: (peer) => p2p.endDead(peer, noHurry) }
}
