/** The single measurements of the VPN: which tunnels each compares, what it asks of the wire, and what is aimed at. */
import type { Lab } from '@mesh/testkit'
import { spawnSync } from 'node:child_process'
import { iperf, runIn } from '../../../apps/node/test/vpn-lab.ts'
import { median, round } from '../statistics.ts'
import { cpuSeconds, mainThreadSeconds, residentMB } from './processes.ts'
import type { Tunnel, TunnelName } from './tunnels.ts'

/** Numbers of one tunnel by their name, which says the unit. */
export type Figures = Readonly<Record<string, number>>

/** A bound on a figure of ours: by itself, or divided by wireguard-go's. */
export interface Target {
  readonly figure: string
  readonly of: 'ratio' | 'value'
  readonly least?: number
  readonly most?: number
}

export interface Part {
  readonly does: string
  readonly tunnels: readonly TunnelName[]
  readonly targets: readonly Target[]
  /** Programs that it needs besides. */
  readonly needs?: readonly string[]
  /** Makes the wire of a tunnel as it has to be; the returned function undoes that. */
  readonly prepare?: (lab: Lab) => () => void
  measure(tunnel: Tunnel): Promise<Figures>
}

const SECONDS = '3'
const SMALL_BYTES = 64
const PING_EVERY_S = '0.05'
const COMPARED: readonly TunnelName[] = ['wire', 'wireguardGo', 'ours']

const atLeast = (figure: string, least: number): Target => ({ figure, of: 'ratio', least })
const atMost = (figure: string, most: number): Target => ({ figure, of: 'ratio', most })
const QUIET_JAVASCRIPT: Target = { figure: 'javascriptPercent', of: 'value', most: 2 }

export const PARTS: Readonly<Record<string, Part>> = {
  tcp1: {
    does: 'TCP, one stream, with the CPU per GB of both ends and what of it runs JavaScript',
    tunnels: COMPARED,
    targets: [atLeast('gbps', 1.6), atMost('cpuSecondsPerGB', 0.56), QUIET_JAVASCRIPT],
    measure: (tunnel) => tcp(tunnel, '1'),
  },
  tcp4: {
    does: 'TCP, four streams',
    tunnels: COMPARED,
    targets: [atLeast('gbps', 1.6), atMost('cpuSecondsPerGB', 0.56), QUIET_JAVASCRIPT],
    measure: (tunnel) => tcp(tunnel, '4'),
  },
  'offloads-off': {
    does: 'TCP, one and four streams, where frames of 1500 bytes cross the wire',
    tunnels: COMPARED,
    needs: ['ethtool'],
    targets: [atLeast('gbps1', 2), atLeast('gbps4', 2), atMost('cpuSecondsPerGB', 0.45)],
    prepare: offloadsOff,
    measure: bothTcp,
  },
  loss: {
    does: 'the same, and one frame of a hundred is lost, each way',
    tunnels: COMPARED,
    needs: ['ethtool', 'nft'],
    targets: [atLeast('gbps1', 1.8), atLeast('gbps4', 1.8), atMost('cpuSecondsPerGB', 0.5)],
    prepare: (lab) => {
      const undo = [offloadsOff(lab), lossy(lab)]
      return () => undo.forEach((each) => each())
    },
    measure: bothTcp,
  },
  ping: {
    does: 'the round trip, idle and beside one stream of TCP',
    tunnels: COMPARED,
    targets: [atMost('idleMs', 1), atMost('loadedMs', 1)],
    async measure(tunnel) {
      // the median: a machine that does other work delays one or the other by much
      const idleMs = median(await pings(tunnel, 40))
      const load = iperf(tunnel.lab, 'left', tunnel.to, ['-t', SECONDS])
      const [loaded] = await Promise.all([pings(tunnel, 45), load])
      const loadedMs = round(loaded.reduce((sum, ms) => sum + ms, 0) / loaded.length, 3)
      return { idleMs, loadedMs }
    },
  },
  packets: {
    does: `UDP packets of ${SMALL_BYTES} bytes that arrive, thousands a second`,
    tunnels: COMPARED,
    targets: [atLeast('kpps', 1)],
    async measure({ lab, to }) {
      const small = await iperf(lab, 'left', to, ['-t', '2', '-u', '-b', '0', '-l', String(SMALL_BYTES)])
      const arrived = (small.bytes / SMALL_BYTES) * (1 - small.lostPercent / 100)
      return { kpps: round(arrived / 2 / 1000, 1) }
    },
  },
  queues: {
    does: 'one queue and two: TCP, one and four streams (only when it is asked for)',
    tunnels: ['ours', 'twoQueues'],
    targets: [],
    measure: bothTcp,
  },
  streams: {
    does: 'the same node over streams of libp2p alone: TCP, one stream (only when it is asked for)',
    tunnels: ['streams', 'ours'],
    targets: [],
    measure: (tunnel) => tcp(tunnel, '1'),
  },
  edgevpn: {
    does: 'EdgeVPN: TCP, one stream (only when it is asked for)',
    tunnels: ['edgevpn', 'ours'],
    targets: [],
    measure: (tunnel) => tcp(tunnel, '1'),
  },
}

async function tcp(tunnel: Tunnel, streams: string): Promise<Figures> {
  const { lab, to, pids, isNode } = tunnel
  const cpuBefore = cpuSeconds(pids)
  const mainBefore = isNode ? pids.map(mainThreadSeconds) : []
  const began = performance.now()
  const { bitsPerSecond, bytes } = await iperf(lab, 'left', to, ['-t', SECONDS, '-P', streams])
  const seconds = (performance.now() - began) / 1000
  const gbps = round(bitsPerSecond / 1e9, 3)
  if (pids.length === 0) return { gbps }
  const cpuSecondsPerGB = round((cpuSeconds(pids) - cpuBefore) / (bytes / 1e9), 2)
  const figures = { gbps, cpuSecondsPerGB, residentMB: round(Math.max(...pids.map(residentMB)), 0) }
  if (!isNode) return figures
  const main = pids.map((pid, at) => mainThreadSeconds(pid) - (mainBefore[at] ?? 0))
  return { ...figures, javascriptPercent: round((100 * Math.max(...main)) / seconds, 1) }
}

async function bothTcp(tunnel: Tunnel): Promise<Figures> {
  const [one, four] = [await tcp(tunnel, '1'), await tcp(tunnel, '4')]
  const [gbps1, gbps4] = [one['gbps'] ?? 0, four['gbps'] ?? 0]
  if (one['cpuSecondsPerGB'] === undefined) return { gbps1, gbps4 }
  // both ran for as long, so that each counts by what it moved
  const cost = one['cpuSecondsPerGB'] * gbps1 + (four['cpuSecondsPerGB'] ?? 0) * gbps4
  return { gbps1, gbps4, cpuSecondsPerGB: round(cost / (gbps1 + gbps4), 2) }
}

/** The round trips of pings in ms; those that get no answer in a second do not count. */
async function pings({ lab, to }: Tunnel, count: number): Promise<readonly number[]> {
  const argv = ['ping', '-n', '-i', PING_EVERY_S, '-W', '1', '-c', String(count), to]
  const out = await runIn(lab, 'left', argv)
  return [...out.matchAll(/ time=([\d.]+) ms/g)].map(([, ms]) => Number(ms))
}

/** Has both ends cut super-segments before the wire, and join none behind it. */
function offloadsOff(lab: Lab): () => void {
  const set = (state: 'on' | 'off') => {
    for (const host of ['left', 'right']) {
      const features = ['tso', 'gso', 'tx-udp-segmentation'].flatMap((feature) => [feature, state])
      lab.run(host, ['ethtool', '-K', 'eth0', ...features, 'gro', 'off'])
    }
  }
  set('off')
  return () => set('on')
}

/** Drops one frame of a hundred by chance where it comes in, at both ends. */
function lossy(lab: Lab): () => void {
  const drop = 'iifname "eth0" numgen random mod 100 0 drop'
  const table = `table inet loss { chain into { type filter hook prerouting priority -300; ${drop}; }; }`
  for (const host of ['left', 'right']) lab.run(host, ['nft', table])
  return () => {
    for (const host of ['left', 'right']) lab.run(host, ['nft', 'delete table inet loss'])
  }
}

/** The first of the programs that is not there. */
export function missingProgram(needs: readonly string[] = []): string | undefined {
  return needs.find((name) => spawnSync('sh', ['-c', `command -v ${name}`]).status !== 0)
}
