import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import type { Logger, PeerId } from '@mesh/core'
import type { EngineCounters } from '@mesh/engine'
import { generateNetworkConfig } from '@mesh/network'
import { createSeededRandom } from '@mesh/testkit'
import type { Vpn, VpnEvent, VpnPeerStatus, VpnStatus } from '@mesh/vpn'
import { describe, expect, test } from 'vitest'
import { readArguments } from '../settings/given.ts'
import { loadSettings } from '../settings/load-settings.ts'
import { vpnInit } from './join-vpn.ts'
import { createVpnPort } from './vpn-port.ts'
import { logVpn } from './log-vpn.ts'
import { describeMachine, hasIpv6, hostNetworks } from '../machine/vpn-host.ts'
import { MAX_PEERS_IN_METRICS, vpnMetrics } from '../metrics/vpn-metrics.ts'

const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const network = { id: 'x', config: generateNetworkConfig({}, createSeededRandom(1)) }

describe('what the VPN is told of the settings', () => {
  const initOf = (...args: string[]) => {
    const surroundings = { environment: { HOME: '/nowhere' }, workingDirectory: '/' }
    return vpnInit(loadSettings('', readArguments('', args), surroundings).settings, network, {
      folder: '/state',
      exit: { faults: () => [] },
    })
  }

  test('without an address one is leased in the built-in range, and kept in the folder of the instance', () => {
    expect(initOf()).toMatchObject({
      interface: 'mesh0',
      mtu: 1280,
      addresses: [],
      lease: { range: { range: '10.1.0.0/24' }, file: '/state/lease' },
      secret: { key: network.config.crypto.key, room: network.config.room },
      machine: { OS: 'linux' },
      acceptRoutes: false,
    })
    expect(initOf('--ephemeral').lease).not.toHaveProperty('file')
  })

  test('addresses are fixed, but with --dhcp a range', () => {
    const fixed = initOf('--address=10.1.0.11/24', '--address=fd12::1/64')
    expect(fixed.addresses.map(({ address }) => address)).toEqual(['10.1.0.11', 'fd12::1'])
    expect(fixed).not.toHaveProperty('lease')
    const leased = initOf('--dhcp', '--address=10.77.0.5/28')
    expect(leased).toMatchObject({
      addresses: [],
      lease: { range: { range: '10.77.0.0/28', address: '10.77.0.5' } },
    })
  })

  test('routes, router and static peers', () => {
    expect(
      initOf(
        '--router=10.1.0.1',
        `--static-peertable=10.1.0.2:${PEER}`,
        '--advertise-route=192.168.7.0/24',
        '--accept-routes',
        `--accept-routes-from=${PEER}`,
        '--ownership-ttl=500s',
      ),
    ).toMatchObject({
      router: '10.1.0.1',
      staticPeers: [{ address: '10.1.0.2', peer: PEER }],
      advertiseRoutes: ['192.168.7.0/24'],
      acceptRoutes: true,
      acceptRoutesFrom: [PEER],
      livenessMs: 500_000,
    })
  })
})

describe('what this machine says', () => {
  test('its system by the names of Go', () => {
    expect(describeMachine('nas', { platform: 'linux', arch: 'x64' })).toMatchObject({
      Hostname: 'nas',
      OS: 'linux',
      Arch: 'amd64',
    })
    expect(describeMachine('nas', { platform: 'win32', arch: 'arm64' })).toMatchObject({
      OS: 'windows',
      Arch: 'arm64',
    })
  })

  test('whether new interfaces get IPv6, which a kernel without it does not say', () => {
    const folder = mkdtempSync(join(tmpdir(), 'mesh-ipv6-'))
    try {
      const file = join(folder, 'conf/default/disable_ipv6')
      mkdirSync(dirname(file), { recursive: true })
      expect(hasIpv6(folder)).toBe(false)
      for (const [text, expected] of [
        ['0\n', true],
        ['1\n', false],
      ] as const) {
        writeFileSync(file, text)
        expect(hasIpv6(folder)).toBe(expected)
      }
    } finally {
      rmSync(folder, { recursive: true })
    }
  })

  test('its networks, by interface', () => {
    const common = { mac: '', internal: false, netmask: '' }
    expect(
      hostNetworks({
        eth0: [
          { ...common, family: 'IPv4', address: '192.168.7.5', cidr: '192.168.7.5/24' },
          { ...common, family: 'IPv6', address: 'fe80::1', cidr: null, scopeid: 2 },
        ],
        none: undefined,
      }),
    ).toEqual([
      { interface: 'eth0', address: { address: '192.168.7.5', range: '192.168.7.0/24', prefixLength: 24 } },
    ])
  })
})

const NOTHING: EngineCounters = { packetsIn: 0, bytesIn: 0, packetsOut: 0, bytesOut: 0, drops: {} }

function peerStatus(peer: string, over: Partial<VpnPeerStatus> = {}): VpnPeerStatus {
  return {
    peer: peer as PeerId,
    hostname: 'nas',
    addresses: [],
    routes: [],
    exit: [],
    tunnel: 'none',
    path: undefined,
    transport: undefined,
    udp: { state: 'none', reason: 'off', endpoint: undefined, rttMs: undefined, candidates: [] },
    mtu: 1280,
    sessionSince: undefined,
    counters: NOTHING,
    ...over,
  }
}

function vpnStatus(peers: readonly VpnPeerStatus[]): VpnStatus {
  return {
    state: 'running',
    interface: { name: 'mesh0', mtu: 1280, offload: true, offloadUdp: true },
    addresses: [],
    peers,
    device: { ...NOTHING, drops: { noRoute: 2, multicast: 1 } },
    routes: { advertised: [], own: [], accepted: [], standby: [] },
    exit: undefined,
    offersExit: undefined,
    ignored: { ownerDead: 3 },
    refusals: { badProof: 1 },
  }
}

test('the API shows the VPN in the names of the contract', () => {
  const udp = {
    state: 'direct',
    reason: undefined,
    endpoint: { address: 'fd12::2' as never, port: 4711 },
    rttMs: 1.5,
    candidates: [],
  } as const
  const counters = { ...NOTHING, packetsIn: 3, bytesIn: 300, drops: { noRoute: 1, spoofedSource: 4 } }
  const peers = [peerStatus(PEER, { tunnel: 'wireguard', exit: ['ipv4'], udp, sessionSince: 0, counters })]
  const port = createVpnPort({ status: () => vpnStatus(peers) } as Vpn, () => {})
  const view = port.status()
  expect(view).toMatchObject({
    State: 'running',
    Interface: 'mesh0',
    ExitNode: null,
    OffersExit: null,
    Drops: { noRoute: 3, multicast: 1, spoofedSource: 4 },
    Ignored: { ownerDead: 3 },
  })
  expect(view.Peers).toMatchObject([
    {
      PeerID: PEER,
      OffersExit: ['ipv4'],
      Way: 'sealed',
      Path: null,
      RoundTripMs: 1.5,
      UDP: { State: 'direct', Reason: null, Endpoint: '[fd12::2]:4711' },
      Since: '1970-01-01T00:00:00.000Z',
      PacketsIn: 3,
      Drops: { noRoute: 1, spoofedSource: 4 },
    },
  ])
})

describe('metrics', () => {
  const samplesOf = (status: VpnStatus, name: string) =>
    vpnMetrics(status).find((metric) => metric.name === name)?.samples

  test('ways, sessions and drops are counted, and peers that sent something', () => {
    const counters = { ...NOTHING, packetsIn: 3, bytesIn: 300, drops: { noRoute: 1, spoofedSource: 4 } }
    const status = vpnStatus([
      peerStatus('a', { tunnel: 'wireguard', sessionSince: 1, counters }),
      peerStatus('b', { tunnel: 'legacy' }),
      peerStatus('c'),
    ])
    expect(samplesOf(status, 'mesh_vpn_peers')).toEqual([
      { labels: { way: 'sealed' }, value: 1 },
      { labels: { way: 'plain' }, value: 1 },
      { labels: { way: 'unknown' }, value: 1 },
    ])
    expect(samplesOf(status, 'mesh_vpn_sessions')).toEqual([{ value: 1 }])
    expect(samplesOf(status, 'mesh_vpn_received_bytes_total')).toEqual([
      { labels: { peer: 'a' }, value: 300 },
    ])
    expect(samplesOf(status, 'mesh_vpn_peer_dropped_packets_total')).toEqual([
      { labels: { peer: 'a' }, value: 5 },
    ])
    expect(samplesOf(status, 'mesh_vpn_dropped_packets_total')).toEqual([
      { labels: { reason: 'noRoute' }, value: 3 },
      { labels: { reason: 'multicast' }, value: 1 },
      { labels: { reason: 'spoofedSource' }, value: 4 },
    ])
    expect(samplesOf(status, 'mesh_vpn_ignored_entries')).toEqual([
      { labels: { reason: 'ownerDead' }, value: 3 },
    ])
  })

  test('beyond a thousand peers the others are one sample', () => {
    const counters = { ...NOTHING, packetsOut: 2 }
    const many = Array.from({ length: MAX_PEERS_IN_METRICS + 5 }, (_, at) =>
      peerStatus(`p${at}`, { counters }),
    )
    const samples = samplesOf(vpnStatus(many), 'mesh_vpn_sent_packets_total') ?? []
    expect(samples).toHaveLength(MAX_PEERS_IN_METRICS + 1)
    expect(samples.at(-1)).toEqual({ labels: { peer: '(others)' }, value: 10 })
  })
})

test('the log tells the interface, a machine once until it is silent, and each problem once', () => {
  const told: unknown[] = []
  const line =
    (level: string) =>
    (message: string, fields = {}) =>
      void told.push([level, message, fields])
  const log: Logger = {
    debug: () => {},
    info: line('info'),
    warn: line('warn'),
    error: line('error'),
    child: () => log,
  }
  let tell = (_event: VpnEvent): void => {}
  let problems: ReturnType<Vpn['problems']> = []
  let exit: ReturnType<Vpn['status']>['exit']
  const vpn: Pick<Vpn, 'interface' | 'addresses' | 'status' | 'problems' | 'subscribe'> = {
    interface: { name: 'mesh0', mtu: 1280, offload: true, offloadUdp: true },
    addresses: () => [{ address: '10.1.0.1', range: '10.1.0.0/24', prefixLength: 24 } as never],
    status: () => ({ ...vpnStatus([peerStatus(PEER, { path: 'direct' })]), exit }),
    problems: () => problems,
    subscribe(listener) {
      tell = listener
      return () => {}
    },
  }
  logVpn(vpn, log)
  tell({ type: 'state', state: 'running' })
  for (const type of ['session', 'session', 'silent', 'session'] as const)
    tell({ type, peer: PEER as PeerId })
  problems = [{ code: 'vpn.x', severity: 'warning', title: 'Something', hint: 'Do.' }]
  tell({ type: 'problems' })
  tell({ type: 'problems' })
  problems = [{ code: 'vpn.exit_searching', severity: 'warning', title: 'Looking', hint: 'Wait.' }]
  tell({ type: 'problems' })
  problems = []
  exit = {
    wanted: 'gate',
    peer: PEER as PeerId,
    hostname: 'gate',
    state: 'up',
    families: ['ipv4'],
    faults: [],
    standby: [],
  }
  tell({ type: 'problems' })
  tell({ type: 'problems' })
  const reached = ['info', 'machine reached', { peer: PEER, name: 'nas', addresses: [], path: 'direct' }]
  expect(told).toEqual([
    ['info', 'interface up', { interface: 'mesh0', addresses: ['10.1.0.1/24'], mtu: 1280 }],
    reached,
    ['info', 'machine is silent', { peer: expect.any(String) as string }],
    reached,
    ['warn', 'Something', { code: 'vpn.x', hint: 'Do.' }],
    // each normal start with an exit has this one
    ['info', 'Looking', { code: 'vpn.exit_searching', hint: 'Wait.' }],
    ['info', 'exit node reached', { peer: PEER, name: 'gate', families: ['ipv4'] }],
  ])
})
