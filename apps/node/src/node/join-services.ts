/**
 * What this node offers beside packets: 1 plugs services and egress into the host, the ledger and replication; 2 tells
 * the API of them; 3 begins with what the settings name.
 */
import { networkInterfaces } from 'node:os'
import { isAbsolute, resolve } from 'node:path'
import type { Ledger } from '@mesh/ledger'
import type { MeshNode } from '@mesh/p2p/node'
import type { Replicator } from '@mesh/replication'
import {
  createEgress,
  createOwnUser,
  createProxy,
  createServices,
  createSlots,
  type NamedAddress,
  type Services,
  type ServicesNetwork,
} from '@mesh/services'
import type { Settings } from '../settings/options.ts'
import { parseListen, parseOffer, parseRange } from '../settings/service-values.ts'
import { valuesOf } from '../settings/vpn-values.ts'
import type { NodeApi } from './create-api.ts'
import type { NodeComponents, StartOptions } from './create-node.ts'
import type { Ends } from './ends.ts'

export interface JoinServicesInit extends NodeComponents, Pick<StartOptions, 'onService'> {
  readonly settings: Settings
  /** The folder that relative paths of sockets count from. */
  readonly base: string
  readonly ledger: Ledger
  readonly p2p: MeshNode
  readonly replicator: Replicator
  readonly api: NodeApi
}

/** @throws MeshError `services.*` */
export async function joinServices(init: JoinServicesInit, ends: Ends): Promise<void> {
  const { settings, base, ledger, p2p, replicator, api, clock, random, log } = init
  const announce = (bucket: string, key: string, valueText: () => string) =>
    replicator.keepAnnounced(bucket, key, valueText)
  const user = createOwnUser({ ledger, announce, clock })
  ends.add(() => user.stop())
  const network = servicesNetwork(p2p)
  const components = { ledger, network, announce, user, slots: createSlots(), clock, random, log }
  const services = createServices(
    {
      services: valuesOf(settings.serviceAdd, parseOffer).map((each) => withBase(each, base)),
      connections: valuesOf(settings.serviceConnect, parseListen).map((each) => withBase(each, base)),
    },
    components,
  )
  ends.add(() => services.stop())
  api.attachServices(services)
  ends.add(tellWhenReady(services, init.onService))
  await services.start()
  if (settings.egress) {
    const egress = createEgress(
      { allow: valuesOf(settings.egressAllow, parseRange) },
      { ...components, ownAddresses },
    )
    ends.add(() => egress.stop())
    await egress.start()
    api.attachEgress(egress)
  }
  if (settings.proxy !== undefined) {
    const { egressPeer } = settings
    const listen = addressWithBase(settings.proxy, base)
    const proxy = createProxy({ listen, ...(egressPeer !== undefined && { egressPeer }) }, components)
    ends.add(() => proxy.stop())
    await proxy.start()
    api.attachProxy(proxy)
    init.onService(`Proxy: HTTP and SOCKS5 on ${proxy.status().listen}`)
  }
}

function ownAddresses(): readonly string[] {
  return Object.values(networkInterfaces()).flatMap((all = []) => all.map(({ address }) => address))
}

function withBase({ name, address }: NamedAddress, base: string): NamedAddress {
  return { name, address: addressWithBase(address, base) }
}

/** Relative paths count from where the person stands. */
function addressWithBase(address: string, base: string): string {
  const path = /^unix:(?:\/\/)?(.*)$/s.exec(address)?.[1]
  return path === undefined || isAbsolute(path) ? address : `unix:${resolve(base, path)}`
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

function servicesNetwork(p2p: MeshNode): ServicesNetwork {
  return {
    self: p2p.self,
    streams: p2p.streams,
    speaks: (peer, protocol) => p2p.speaks(peer, protocol),
    connect: (peer, signal) => p2p.connect(peer, signal),
    pathOf(peer) {
      const status = p2p.peer(peer)
      if (status?.path === undefined) return undefined
      return { path: status.path, transport: status.transport, rttMs: status.rttMs }
    },
    onPath: (listener) => p2p.onPath(listener),
  }
}
