/** A node's API with a real ledger and a network that the test plays. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiClient, createClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { type Clock, MeshError, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { createLedger, type Ledger } from '@mesh/ledger'
import { createNodeSigner, createNodeVerifier } from '@mesh/ledger/node'
import {
  type ApiListener,
  type ApiServer,
  type ApiServerComponents,
  type ApiServerInit,
  createApiServer,
  type DnsPort,
  type LogPort,
  type NetworkEvent,
  type NetworkPort,
  type PeerState,
  type ReachabilityState,
  type TrafficStats,
  type VpnCounters,
  type VpnGuest,
  type VpnPeerState,
  type VpnPort,
} from '../src/index.ts'

export const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
export const PAGE = '<!doctype html><title>mesh</title>'

export interface TestNode {
  readonly server: ApiServer
  readonly ledger: Ledger
  readonly listener: ApiListener
  readonly unix: ApiListener
  readonly client: ApiClient
  readonly unixClient: ApiClient
  /** Opens the control socket, and asks over it. */
  control(): Promise<{ readonly client: ApiClient; close(): Promise<void> }>
  readonly socketPath: string
  /** Tells the API what happened in the network. */
  emit(event: NetworkEvent): void
  stop(): Promise<void>
}

export interface TestNodeInit extends ApiServerInit {
  readonly components?: Partial<ApiServerComponents>
  readonly withoutNetwork?: boolean
  readonly vpn?: VpnPort
  readonly clock?: Clock
}

export async function startTestNode(init: TestNodeInit = {}): Promise<TestNode> {
  const clock = init.clock ?? systemClock
  const ledger = createLedger({}, { signer: newSigner(), verify: createNodeVerifier(), clock })
  const listenersOfNetwork = new Set<(event: NetworkEvent) => void>()
  const server = createApiServer(init, {
    ledger,
    clock,
    random: systemRandom,
    logger: silentLogger,
    version: { version: '0.1.0', protocols: () => ['/mesh/replication/1'] },
    node: { name: 'nas', networkId: 'a3aef9821d7c70a7dfd6', instance: 'node', hasVpn: true },
    health: { problems: () => [], ready: () => true },
    assets: {
      get: (path) => (path === '/index.html' ? { bytes: Buffer.from(PAGE), type: 'text/html' } : undefined),
    },
    ...(init.withoutNetwork !== true && { network: fakeNetwork(listenersOfNetwork) }),
    dns: fakeDns,
    log: createFakeLog(),
    reachability: () => REACHABILITY,
    ...init.components,
  })
  if (init.vpn !== undefined) server.attachVpn(init.vpn)
  const folder = mkdtempSync(join(tmpdir(), 'mesh-api-'))
  const socketPath = join(folder, 'api.sock')
  const listener = await server.listen({ kind: 'tcp', host: '127.0.0.1', port: 0 })
  const unix = await server.listen({ kind: 'unix', path: socketPath })
  const control = { kind: 'unix', path: join(folder, 'control.sock'), isControl: true } as const
  return {
    server,
    ledger,
    listener,
    unix,
    socketPath,
    client: createClient({ baseUrl: listener.url }),
    unixClient: createNodeClient({ baseUrl: unix.url }),
    async control() {
      const opened = await server.listen(control)
      return { client: createNodeClient({ baseUrl: opened.url }), close: () => opened.close() }
    },
    emit(event) {
      for (const tell of listenersOfNetwork) tell(event)
    },
    async stop() {
      await server.stop()
      await ledger.stop()
      rmSync(folder, { recursive: true })
    },
  }
}

const REACHABILITY: ReachabilityState = {
  addresses: ['/ip4/192.0.2.1/tcp/4001'],
  ways: [
    { method: 'mdns', enabled: true, found: 2, lastError: undefined },
    { method: 'relay', enabled: false, found: undefined, lastError: 'no relay' },
  ],
  clock: { aheadMs: -5, members: 2 },
}

function createFakeLog(): LogPort {
  let [level, kept] = ['info', false]
  return {
    level: () => level,
    isKept: () => kept,
    subsystems: () => new Map([['p2p', level.endsWith('p2p=debug') ? 'debug' : 'info']]),
    set(text, keep = false) {
      if (text === 'loud') throw new MeshError('node.bad_log_level', 'no levels')
      ;[level, kept] = [text, keep]
    },
  }
}

export function newSigner() {
  return createNodeSigner(crypto.getRandomValues(new Uint8Array(32)))
}

export const STATS: TrafficStats = { totalIn: 5462, totalOut: 95_348, rateIn: 0, rateOut: 4808.5 }

const COUNTERS: VpnCounters = { packetsIn: 3, bytesIn: 300, packetsOut: 2, bytesOut: 200, drops: {} }

export function fakeMachine(over: Partial<VpnPeerState>): VpnPeerState {
  return {
    peer: PEER,
    hostname: 'nas',
    addresses: ['10.1.0.12', 'fd00::12'],
    routes: [],
    exit: [],
    way: 'unknown',
    path: undefined,
    transport: undefined,
    udp: { state: 'none', reason: 'blocked', endpoint: undefined, rttMs: undefined, candidates: [] },
    mtu: 1280,
    sessionSince: undefined,
    counters: COUNTERS,
    ...over,
  }
}

const nas = { wanted: 'nas', peer: PEER, hostname: 'nas', state: 'up', families: ['ipv4'] } as const
const unknownExit = { peer: undefined, hostname: '', state: 'searching', families: [] } as const

/** A VPN whose machines the test plays; those without a path do not answer. */
export function fakeVpn(peers: readonly VpnPeerState[]): VpnPort {
  const guests: VpnGuest[] = []
  let exit: ReturnType<VpnPort['status']>['exit'] = nas
  return {
    setExitNode(wanted) {
      if (wanted === 'unmarked') throw new MeshError('exit.no_mark', 'no mark')
      exit = wanted === undefined ? undefined : wanted === 'nas' ? nas : { ...unknownExit, wanted }
    },
    guests: () => guests,
    async addGuest({ name, endpoint = '192.0.2.7:51820', fullTunnel = false }) {
      if (guests.some((guest) => guest.name === name))
        throw new MeshError('vpn.guest_exists', `there is a guest called ${name} already`)
      const guest = { name, address: '10.1.0.20', publicKey: 'cHVibGlj' }
      const config = { fullTunnel, findsNodeAt: endpoint, isLost: false }
      const seen = { sessionSince: undefined, endpoint: undefined, counters: COUNTERS }
      guests.push({ ...guest, ...config, ...seen, addedAt: 0 })
      return { ...guest, endpoint, configuration: '[Interface]' }
    },
    removeGuest(name) {
      const at = guests.findIndex((guest) => guest.name === name)
      if (at < 0) throw new MeshError('vpn.unknown_guest', `no guest is called ${name}`)
      guests.splice(at, 1)
    },
    onPath: () => () => {},
    status: () => ({
      state: 'running',
      interface: { name: 'mesh0', mtu: 1280, offload: true },
      addresses: [{ address: '10.1.0.11', prefixLength: 24 }],
      peers,
      device: { ...COUNTERS, drops: { noRoute: 5, multicast: 1 } },
      routes: {
        advertised: ['192.168.7.0/24'],
        accepted: [{ range: '192.168.8.0/24', peer: PEER, metric: 10, inKernel: true }],
      },
      exit,
      offersExit: undefined,
      ignored: { ownerDead: 2 },
      refusals: {},
    }),
    async probe(peer) {
      const machine = peers.find((each) => each.peer === peer)
      if (machine?.path === undefined) throw new MeshError('vpn.unreachable', `${peer} does not answer`)
      const { way, path, transport, mtu } = machine
      const endpoint = { address: 'fd12::2', port: 4711 }
      const candidate = { endpoint, kind: 'own', isAnswered: true, isHeard: true, rttMs: 1.5, mtu } as const
      const udp = {
        state: 'direct',
        reason: undefined,
        endpoint,
        rttMs: 1.5,
        candidates: [candidate],
      } as const
      return { way, path, transport, mtu, rttMs: 1.5, udp }
    },
  }
}

/** Names that the test plays: `laptop.mesh.` is a machine, all else is asked elsewhere. */
const fakeDns: DnsPort = {
  async explain(name, type) {
    if (name.includes('..')) throw new MeshError('dns.bad_question', 'no name of DNS')
    const common = { name, type, losers: [], servers: [] }
    if (name !== 'laptop.mesh.') {
      const servers = ['192.0.2.53:53']
      return { ...common, rcode: undefined, records: [], source: 'forwarder', winner: undefined, servers }
    }
    const losers = [{ name: 'lap', owner: PEER, reason: 'automatic_name' }]
    const records = [{ name, type, ttl: 30, text: '10.1.0.5' }]
    return { ...common, rcode: 0, records, source: 'machine', winner: { name, owner: PEER }, losers }
  },
  status: () => ({
    zone: 'mesh.',
    listening: [{ host: '::1', port: 5353 }],
    outcomes: { answered: 3 },
    names: { automatic: 4, patterns: 2 },
    forwarder: {
      cached: 1,
      servers: [{ address: '192.0.2.53', port: 53, domain: '.', failing: { reason: 'no answer in time' } }],
    },
  }),
}

function fakeNetwork(listeners: Set<(event: NetworkEvent) => void>): NetworkPort {
  const peer: PeerState = {
    id: PEER,
    connected: true,
    member: true,
    path: 'direct',
    transport: 'tcp',
    addresses: ['/ip4/127.0.0.1/tcp/4001'],
    rttMs: 4,
    lastSeen: Date.UTC(2026, 0, 1),
    lastError: undefined,
    reach: 'direct by tcp for 5 s, dialled by the peer',
    agent: 'mesh/0.1.0',
  }
  return {
    members: () => [PEER],
    peers: () => [peer],
    probe(id) {
      if (id !== PEER) return Promise.reject(new MeshError('p2p.unreachable', `not connected to ${id}`))
      return Promise.resolve({ path: 'direct', transport: 'tcp', rttMs: 1.5 })
    },
    traffic: {
      total: () => STATS,
      byProtocol: () => new Map([['/meshsub/1.2.0', STATS]]),
      byPeer: () => new Map([[PEER, STATS]]),
    },
    subscribe(listener) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  }
}
