/** A node's API with a real ledger and a network that the test plays. */
import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type ApiClient, createClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import {
  type CheckView,
  dnsTypeName,
  type GuestView,
  type LogLinesView,
  type ReachabilityView,
  type SettingView,
  type VpnPeerView,
  type VpnView,
} from '@mesh/api-contract'
import { type Clock, MeshError, silentLogger, systemClock, systemRandom, tryParsePeerId } from '@mesh/core'
import { createLeases, createLedger, type Ledger, type Signer } from '@mesh/ledger'
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
  type TrafficStats,
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
  /** A new one unless given. */
  readonly signer?: Signer
}

export async function startTestNode(init: TestNodeInit = {}): Promise<TestNode> {
  const clock = init.clock ?? systemClock
  const ledger = createLedger({}, { signer: init.signer ?? newSigner(), verify: createNodeVerifier(), clock })
  const listenersOfNetwork = new Set<(event: NetworkEvent) => void>()
  const leases = createLeases({ ledger, clock, random: systemRandom, claimMs: 20 })
  const server = createApiServer(init, {
    ledger,
    leases,
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
    doctor: async () => [CHECK],
    settings: () => [SETTING],
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

const REACHABILITY: ReachabilityView = {
  Addresses: ['/ip4/192.0.2.1/tcp/4001'],
  Ways: [
    { Name: 'mdns', Enabled: true, Found: 2, LastError: null },
    { Name: 'relay', Enabled: false, Found: null, LastError: 'no relay' },
  ],
  Clock: { AheadMs: -5, Members: 2 },
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
    lines: (after) => ({ Lines: after < LOG_LINE.Sequence ? [LOG_LINE] : [], Next: LOG_LINE.Sequence }),
  }
}

export const LOG_LINE: LogLinesView['Lines'][number] = {
  Sequence: 7,
  Time: '2026-01-01T00:00:00.000Z',
  Level: 'warn',
  Subsystem: 'p2p/reach',
  Text: 'no way to nas',
}

export const CHECK: CheckView = { Name: 'clock', Verdict: 'warn', Found: 'It is late.', Next: 'Set it.' }

export const SETTING: SettingView = {
  Name: 'token',
  Group: 'Network',
  Summary: 'The token.',
  Value: '*** (9 characters)',
  Source: 'environment',
  Place: 'MESHTOKEN',
}

export function newSigner() {
  return createNodeSigner(crypto.getRandomValues(new Uint8Array(32)))
}

export const STATS: TrafficStats = { totalIn: 5462, totalOut: 95_348, rateIn: 0, rateOut: 4808.5 }

const COUNTERS = { PacketsIn: 3, BytesIn: 300, PacketsOut: 2, BytesOut: 200 }

export function fakeMachine(over: Partial<VpnPeerView>): VpnPeerView {
  return {
    PeerID: PEER,
    Hostname: 'nas',
    Addresses: ['10.1.0.12', 'fd00::12'],
    Routes: [],
    OffersExit: null,
    Way: 'unknown',
    Path: null,
    Transport: null,
    RoundTripMs: null,
    UDP: { State: 'none', Reason: 'blocked', Endpoint: null, RoundTripMs: null },
    MTU: 1280,
    Since: null,
    ...COUNTERS,
    Drops: {},
    ...over,
  }
}

const nas: VpnView['ExitNode'] = {
  Wanted: 'nas',
  PeerID: PEER,
  Hostname: 'nas',
  State: 'up',
  Families: ['ipv4'],
  Standby: [],
}

/** A VPN whose machines the test plays; those without a path do not answer. */
export function fakeVpn(peers: readonly VpnPeerView[]): VpnPort {
  const guests: GuestView[] = []
  let exit = nas
  return {
    setExitNode(wanted) {
      if (wanted === 'unmarked') throw new MeshError('exit.no_mark', 'no mark')
      const other = { PeerID: null, Hostname: '', State: 'searching', Families: [] } as const
      exit =
        wanted === undefined
          ? null
          : wanted === 'nas'
            ? nas
            : { ...other, Families: [], Standby: [], Wanted: wanted }
    },
    guests: () => guests,
    async addGuest({ name, endpoint = '192.0.2.7:51820', fullTunnel = false }) {
      if (guests.some(({ Name }) => Name === name))
        throw new MeshError('vpn.guest_exists', `there is a guest called ${name} already`)
      const guest = { Name: name, Address: '10.1.0.20', Address6: null, PublicKey: 'cHVibGlj' }
      const config = { FullTunnel: fullTunnel, NodeEndpoint: endpoint, NodeMoved: false }
      const seen = { Handshake: null, Endpoint: null, ...COUNTERS }
      guests.push({ ...guest, ...config, ...seen, AddedAt: '1970-01-01T00:00:00.000Z' })
      return { ...guest, Endpoint: endpoint, Configuration: '[Interface]' }
    },
    removeGuest(name) {
      const at = guests.findIndex(({ Name }) => Name === name)
      if (at < 0) throw new MeshError('vpn.unknown_guest', `no guest is called ${name}`)
      guests.splice(at, 1)
    },
    onPath: () => () => {},
    status: () => ({
      State: 'running',
      Interface: 'mesh0',
      MTU: 1280,
      Offload: true,
      Addresses: ['10.1.0.11/24'],
      Routes: {
        Advertised: ['192.168.7.0/24'],
        Own: [],
        Accepted: [{ CIDR: '192.168.8.0/24', PeerID: PEER, Metric: 10, InKernel: true, Standby: [] }],
      },
      ExitNode: exit,
      OffersExit: null,
      Peers: [...peers],
      Drops: { noRoute: 5, multicast: 1, spoofedSource: 4 },
      Ignored: { ownerDead: 2 },
      Refusals: {},
    }),
    async probe(peer) {
      const machine = peers.find(({ PeerID }) => PeerID === peer)
      if (machine === undefined || machine.Path === null)
        throw new MeshError('vpn.unreachable', `${peer} does not answer`)
      const { Way, Path, Transport, MTU } = machine
      const way = { Endpoint: '[fd12::2]:4711', RoundTripMs: 1.5 }
      const candidate = { ...way, Kind: 'own' as const, Answered: true, Heard: true, MTU }
      const udp = { State: 'direct' as const, Reason: null, ...way, Candidates: [candidate] }
      return { Way, Path, Transport, MTU, RoundTripMs: 1.5, UDP: udp }
    },
  }
}

/** Names that the test plays: `laptop.mesh.` is a machine, all else is asked elsewhere. */
const fakeDns: DnsPort = {
  async explain(name, type) {
    if (name.includes('..')) throw new MeshError('dns.bad_question', 'no name of DNS')
    const common = { Name: name, Type: dnsTypeName(type), Losers: [], Servers: [] }
    if (name !== 'laptop.mesh.') {
      const Servers = ['192.0.2.53:53']
      return { ...common, Code: null, Records: [], Source: 'forwarder', Winner: null, Servers }
    }
    const Losers = [{ Name: 'lap', Owner: PEER, Reason: 'automatic_name' }]
    const Records = [{ Name: name, Type: common.Type, TTL: 30, Value: '10.1.0.5' }]
    const Winner = { Name: name, Owner: PEER }
    return { ...common, Code: 'NOERROR', Records, Source: 'machine', Winner, Losers }
  },
  status: () => ({
    Zone: 'mesh.',
    Listening: ['[::1]:5353'],
    Names: 4,
    Patterns: 2,
    Cached: 1,
    Forwarders: [{ Server: '192.0.2.53:53', Domain: '.', LastError: 'no answer in time' }],
    Queries: { answered: 3 },
  }),
}

/** A peer that the network of the test learns of. */
export const ADDED = '12D3KooWLbDHQoJ2dUwkQ3ykVLTMMHPVPD6ZZSDk42tU5RXD5YRz'

export function fakeNetwork(listeners = new Set<(event: NetworkEvent) => void>()): NetworkPort {
  const peer: PeerState = {
    id: PEER,
    connected: true,
    member: true,
    path: 'direct',
    foundBy: ['mdns', 'incoming'],
    transport: 'tcp',
    addresses: ['/ip4/127.0.0.1/tcp/4001'],
    rttMs: 4,
    lastSeen: Date.UTC(2026, 0, 1),
    lastError: undefined,
    reach: 'direct by tcp for 5 s, dialled by the peer',
    agent: 'mesh/0.1.0',
  }
  const added = new Set<string>()
  return {
    members: () => [PEER],
    peers: () => [peer],
    addPeer(address) {
      const id = tryParsePeerId(address.split('/').at(-1) ?? '')
      if (id === undefined) throw new MeshError('p2p.bad_peer_address', `${address} has no peer id`)
      added.add(id)
      return id
    },
    forget: (id) => Promise.resolve(added.delete(id)),
    pathReports: () => [
      {
        peer: PEER,
        state: 'told',
        ageMs: 1_500.4,
        paths: [{ peer: ADDED, path: 'relayed', relay: PEER, rttMs: undefined, bytesPerSecond: 5 }],
        more: 2,
      },
      { peer: ADDED, state: 'silent', ageMs: undefined, paths: [], more: 0 },
    ],
    probe(id) {
      if (id !== PEER && !added.has(id))
        return Promise.reject(new MeshError('p2p.unreachable', `not connected to ${id}`))
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
