/**
 * Many machines that start at the same moment: how long until each has an address of its own, knows all others, and packets
 * pass between any two, and what that costs. Each is a network namespace on one bridge with a node that runs the VPN and
 * finds the others by mDNS alone; the built node is measured.
 *
 * 1 All processes are started at once; 2 addresses and members are looked at until all have theirs; 3 each pair pings;
 * 4 after a rest the cost of an idle node is taken.
 */
import { bridge, createLab, type Lab } from '@mesh/testkit'
import { createMesh, makeToken, type NodeProcess } from '../../../apps/node/test/harness.ts'
import { runIn, whyNoVpn } from '../../../apps/node/test/vpn-lab.ts'
import { round } from '../statistics.ts'
import { type Counters, readCounters, since, sumOf } from './counters.ts'

/** Sizes that can be asked for alone, as `fleet.50`. */
export const FLEET_SIZES: readonly string[] = ['5', '10', '20', '30', '40', '50']
const DEFAULT_SIZES = ['5', '20']
const ARGS = ['--private', '--dht=false']
const LINK = 'eth0'
/** How long a fleet may take until all have joined, in ms; what is missing then is told. */
const JOIN_MS = 200_000
/** How often it is looked how far they are, in ms: all are asked, and answering takes time from them. */
const LOOK_EVERY_MS = 2_000
/** How long a ping may take, in s, and how often those that nobody answered are sent again. */
const PING_S = 10
const PING_ROUNDS = 3
const REST_MS = 15_000
const IDLE_MS = 30_000

export async function measureFleet(parts: readonly string[] = []) {
  const skipped = whyNoVpn(['ip', 'ping'])
  if (skipped !== undefined) return { skipped }
  const results: Record<string, unknown> = {}
  for (const size of parts.length > 0 ? parts : DEFAULT_SIZES) {
    results[`${size} machines`] = await measureSize(Number(size))
  }
  return results
}

async function measureSize(count: number) {
  const hosts = Array.from({ length: count }, (_, at) => `m${at}`)
  const lab = createLab(['switch', ...hosts])
  const mesh = createMesh()
  try {
    bridge(lab, 'switch', Object.fromEntries(hosts.map((host, at) => [host, [`10.77.0.${at + 1}/24`]])))
    const token = makeToken()
    const began = performance.now()
    const nowS = () => round((performance.now() - began) / 1_000, 1)
    const nodes = await Promise.all(
      hosts.map((host) =>
        mesh.start({
          command: 'vpn',
          token,
          built: true,
          prefix: lab.inside(host, []),
          baseArgs: ARGS,
          startWithinMs: JOIN_MS,
          environment: environmentOf(host),
        }),
      ),
    )
    const startedS = nowS()
    tell(`${count} processes listen after ${startedS} s, ${round(cost(nodes).cpuS, 1)} s of CPU`)
    const joined = await untilJoined(nodes, nowS)
    const joining = cost(nodes)
    const sentKb = await sentByProtocol(nodes)
    const worked = await workOf(nodes)
    const pings = await pingAll(lab, hosts, joined.addresses, nowS)
    const all = cost(nodes)
    await pause(REST_MS)
    const restS = nowS()
    const rested = cost(nodes)
    await pause(IDLE_MS)
    const idleS = nowS() - restS
    const idle = since(rested, cost(nodes))
    const { addresses: _, ...reached } = joined
    const result = {
      startedS,
      ...reached,
      joining: rounded(joining),
      joiningSentKb: sentKb,
      joiningWork: worked,
      ...pings,
      pinging: rounded(since(joining, all)),
      resting: rounded(since(all, rested)),
      idleForEach: {
        cpuPercent: round((100 * idle.cpuS) / idleS / count),
        packetsPerS: round(idle.packets / idleS / count),
        bytesPerS: round(idle.bytes / idleS / count, 0),
      },
    }
    if (nodeOptions !== undefined) await Promise.all(nodes.map((node) => node.stop()))
    return result
  } finally {
    await mesh.cleanUp()
    lab.close()
  }
}

interface Joined {
  /** When all had an address and no two the same, and when all knew all others, in s; null where they never did. */
  readonly leasedS: number | null
  readonly knownS: number | null
  /** Where that was missed: machines without an address, addresses that more than one has, the least that one knows. */
  readonly unleased: number
  readonly heldTwice: number
  readonly fewestKnown: number
  readonly addresses: readonly (string | undefined)[]
}

async function untilJoined(nodes: readonly NodeProcess[], nowS: () => number): Promise<Joined> {
  let [leasedS, knownS]: (number | null)[] = [null, null]
  for (;;) {
    const addresses: (string | undefined)[] = []
    const known: number[] = []
    // one after the other, so that looking does not make all of them work at once
    for (const { control } of nodes) {
      const { State, Addresses } = await control.getVpn()
      const address = Addresses.find((each) => !each.includes(':'))?.split('/')[0]
      addresses.push(State === 'running' ? address : undefined)
      known.push((await control.getSummary()).OnChainNodes)
    }
    const held = addresses.filter((address) => address !== undefined)
    const state = {
      unleased: nodes.length - held.length,
      heldTwice: held.length - new Set(held).size,
      fewestKnown: Math.min(...known),
    }
    const isLeased = state.unleased === 0 && state.heldTwice === 0
    const isKnown = state.fewestKnown >= nodes.length - 1
    leasedS = isLeased ? (leasedS ?? nowS()) : null
    knownS = isKnown ? (knownS ?? nowS()) : null
    tell(`${nowS()} s: ${JSON.stringify({ ...state, ...rounded(cost(nodes)) })}`)
    if ((isLeased && isKnown) || nowS() * 1_000 > JOIN_MS) return { leasedS, knownS, ...state, addresses }
    await pause(LOOK_EVERY_MS)
  }
}

/** What all sent on streams until now, in kB by protocol, the most first. */
async function sentByProtocol(nodes: readonly NodeProcess[]): Promise<Readonly<Record<string, number>>> {
  const sum = new Map<string, number>()
  for (const { control } of nodes) {
    for (const [protocol, { TotalOut }] of Object.entries(await control.listProtocolTraffic({})))
      sum.set(protocol, (sum.get(protocol) ?? 0) + TotalOut)
  }
  const sorted = [...sum]
    .toSorted(([, a], [, b]) => b - a)
    .map(([name, bytes]) => [name, round(bytes / 1_000, 0)])
  return Object.fromEntries(sorted) as Record<string, number>
}

/** What all did for their ledgers until now, in all: the metrics say of each what it is. */
const WORK = [
  'mesh_blocks_published_total',
  'mesh_entries_published_total',
  'mesh_messages_received_total',
  'mesh_catch_up_sessions_total',
  'mesh_catch_up_entries_in_total',
]

async function workOf(nodes: readonly NodeProcess[]): Promise<Readonly<Record<string, number>>> {
  const sum = Object.fromEntries(WORK.map((name) => [name, 0]))
  for (const { control } of nodes) {
    for (const line of (await control.getMetrics()).split('\n')) {
      const [, name = '', value] = /^(\w+)(?:\{.*\})? (\S+)/.exec(line) ?? []
      if (name in sum) sum[name] = (sum[name] ?? 0) + Number(value)
    }
  }
  return sum
}

/** Each pair pings once, from the one that comes first; those that nobody answered ping again. */
async function pingAll(
  lab: Lab,
  hosts: readonly string[],
  addresses: readonly (string | undefined)[],
  nowS: () => number,
) {
  const missing = new Map<string, readonly string[]>(
    hosts.map((host, at) => [host, addresses.slice(at + 1).filter((address) => address !== undefined)]),
  )
  const unansweredByRound: number[] = []
  for (let at = 0; at < PING_ROUNDS; at++) {
    const left = hosts.filter((host) => (missing.get(host)?.length ?? 0) > 0)
    await Promise.all(
      left.map(async (host) => missing.set(host, await unanswered(lab, host, missing.get(host) ?? []))),
    )
    const unansweredNow = [...missing.values()].flat().length
    unansweredByRound.push(unansweredNow)
    tell(`${nowS()} s: ${unansweredNow} pairs without an answer`)
    if (unansweredNow === 0) return { pingedS: nowS(), unansweredByRound }
  }
  return { pingedS: null, unansweredByRound }
}

/** Those of the addresses that did not answer. */
async function unanswered(lab: Lab, host: string, addresses: readonly string[]): Promise<readonly string[]> {
  const one = `ping -n -q -c 1 -w ${PING_S} $to >/dev/null 2>&1 && echo $to`
  const out = await runIn(lab, host, [
    'sh',
    '-c',
    `for to in ${addresses.join(' ')}; do (${one}) & done; wait`,
  ])
  const answered = new Set(out.split('\n'))
  return addresses.filter((address) => !answered.has(address))
}

const cost = (nodes: readonly NodeProcess[]) => sumOf(nodes.map(({ pid }) => readCounters(pid, LINK)))

function rounded({ cpuS, packets, bytes, datagrams, dials, failedDials }: Counters) {
  return { cpuS: round(cpuS, 1), packets, kb: round(bytes / 1_000, 0), datagrams, dials, failedDials }
}

/**
 * Options of Node for a few of the machines, such as `--cpu-prof --cpu-prof-dir=profiles`; all end in order then, so that
 * what these options bring is written.
 */
const nodeOptions = process.env['MESH_FLEET_NODE_OPTIONS']

function environmentOf(host: string): Readonly<Record<string, string>> {
  return nodeOptions !== undefined && PROFILED.includes(host) ? { NODE_OPTIONS: nodeOptions } : {}
}

const PROFILED = ['m0', 'm3', 'm6']

const pause = (ms: number) => new Promise((resolve) => setTimeout(resolve, ms))

function tell(line: string): void {
  process.stderr.write(`  ${line}\n`)
}
