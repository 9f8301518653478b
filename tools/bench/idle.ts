/**
 * Bytes that an idle node sends per minute, by protocol and in all: real processes of the built node, counted by the
 * node itself (what streams send; encryption and TCP/IP come on top). Fully connected on loopback; a star in network
 * namespaces, where leaves reach the hub alone.
 */
import type { ApiClient } from '@mesh/api-client'
import { createNodeClient } from '@mesh/api-client/node'
import { estimateIdleTraffic } from '../../packages/replication/bench/idle-traffic.ts'
import { createLab, type Lab, whyNoNamespaces } from '@mesh/testkit'
import { createMesh, LOOPBACK_ARGS, makeToken, type Mesh } from '../../apps/node/test/harness.ts'
import { round } from './statistics.ts'
import { until } from './until.ts'

const WARM_UP_MS = 45_000
const JOIN_TIMEOUT_MS = 240_000
/** Two heartbeats of the default interval. */
const WINDOW_MS = 240_000
const CASES: readonly IdleCase[] = [
  { shape: 'full', nodes: 3, entries: 10 },
  { shape: 'full', nodes: 20, entries: 10 },
  { shape: 'full', nodes: 20, entries: 10_000 },
  { shape: 'star', nodes: 20, entries: 10 },
  { shape: 'star', nodes: 20, entries: 1_000 },
]

/** More processes than this machine holds; the entries do not matter to the model. */
const MODELLED = [3, 20, 100].flatMap((nodes) =>
  (['full', 'star'] as const).map((shape) => ({ shape, nodes })),
)

export interface IdleCase {
  readonly shape: 'full' | 'star'
  readonly nodes: number
  readonly entries: number
}

/** kB per node and minute; for a star of the hub and, as a mean, of the leaves. */
export async function measureIdle(cases = CASES, windowMs = WINDOW_MS) {
  const results: Record<string, unknown> = {}
  for (const each of cases) {
    const name = `${each.nodes} nodes, ${each.shape}, ${each.entries} entries`
    process.stderr.write(`  ${name}\n`)
    const skipped = each.shape === 'star' ? whyNoNamespaces(['ip']) : undefined
    results[name] = skipped === undefined ? await measureCase(each, windowMs) : { skipped }
  }
  return { measured: results, modelled: MODELLED.map(estimate) }
}

/** Gossip and comparisons alone, without what libp2p adds (links, pings, discovery): see the model. */
function estimate({ shape, nodes }: Omit<IdleCase, 'entries'>) {
  const { gossip, sessions } = estimateIdleTraffic({ nodes, topology: shape })
  return { nodes, shape, gossipKb: round(gossip / 1000), sessionsKb: round(sessions / 1000) }
}

async function measureCase(each: IdleCase, windowMs: number) {
  const mesh = createMesh()
  const lab = each.shape === 'star' ? starLab(each.nodes) : undefined
  try {
    const nodes =
      lab === undefined ? await startFull(mesh, each.nodes) : await startStar(mesh, lab, each.nodes)
    await fill(nodes, each)
    await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS))
    const before = await Promise.all(nodes.map(sentByProtocol))
    await new Promise((resolve) => setTimeout(resolve, windowMs))
    const after = await Promise.all(nodes.map(sentByProtocol))
    const sent = after.map((node, at) => perMinute(before[at] ?? new Map(), node, windowMs))
    return each.shape === 'full' ? mean(sent) : { hub: mean(sent.slice(0, 1)), leaf: mean(sent.slice(1)) }
  } finally {
    await mesh.cleanUp()
    lab?.close()
  }
}

async function startFull(mesh: Mesh, count: number): Promise<ApiClient[]> {
  const token = makeToken()
  const first = await mesh.start({ token, built: true })
  const args = [`--discovery-bootstrap-peers=${first.addresses.join(',')}`]
  const nodes = [first.client]
  while (nodes.length < count) nodes.push((await mesh.start({ token, built: true, args })).client)
  return nodes
}

function starLab(count: number): Lab {
  const hosts = ['hub', ...Array.from({ length: count - 1 }, (_, leaf) => `leaf${leaf}`)]
  const lab = createLab(hosts)
  hosts.slice(1).forEach((host, leaf) => {
    const subnet = `192.168.${100 + leaf}`
    lab.wire(
      { host: 'hub', device: `l${leaf}`, addresses: [`${subnet}.1/24`] },
      { host, device: 'eth0', addresses: [`${subnet}.2/24`] },
    )
  })
  return lab
}

async function startStar(mesh: Mesh, lab: Lab, count: number): Promise<ApiClient[]> {
  const token = makeToken()
  const start = async (host: string, listen: string, ...args: string[]) => {
    const baseArgs = [
      ...LOOPBACK_ARGS.filter((arg) => !arg.startsWith('--listen-maddrs')),
      `--listen-maddrs=/ip4/${listen}/tcp/4001`,
    ]
    const node = await mesh.start({ token, built: true, prefix: lab.inside(host, []), baseArgs, args })
    return { id: node.id, client: createNodeClient({ baseUrl: `unix://${node.controlSocket}` }) }
  }
  const hub = await start('hub', '0.0.0.0')
  const nodes = [hub.client]
  for (let leaf = 0; leaf < count - 1; leaf++) {
    const subnet = `192.168.${100 + leaf}`
    const bootstrap = `--discovery-bootstrap-peers=/ip4/${subnet}.1/tcp/4001/p2p/${hub.id}`
    nodes.push((await start(`leaf${leaf}`, `${subnet}.2`, bootstrap)).client)
  }
  return nodes
}

/** Waits until all have joined before it writes: in a star that takes the hub's whole time for a while. */
async function fill(nodes: readonly ApiClient[], { shape, nodes: count, entries }: IdleCase): Promise<void> {
  const [first] = nodes
  if (first === undefined) return
  const began = performance.now()
  const tell = (what: string) =>
    process.stderr.write(
      `    ${what} ${((performance.now() - began) / 1000).toFixed(1)} s after the last start\n`,
    )
  for (const [at, client] of nodes.entries()) {
    const others = shape === 'full' || at === 0 ? count - 1 : 1
    await until(async () => (await client.getSummary({})).OnChainNodes >= others, JOIN_TIMEOUT_MS)
  }
  tell('joined')
  await new Promise((resolve) => setTimeout(resolve, WARM_UP_MS))
  tell('began to write')
  for (let at = 0; at < entries; at += 100) {
    const some = Array.from({ length: Math.min(100, entries - at) }, (_, offset) => at + offset)
    await Promise.all(
      some.map((key) => first.putText({ bucket: 'idle', key: `key-${key}`, value: `value-${key}` })),
    )
  }
  for (const client of nodes) {
    await until(async () => (await client.getDigest({})).Entries >= entries, JOIN_TIMEOUT_MS)
  }
  tell('all held everything')
}

type Sent = ReadonlyMap<string, number>

async function sentByProtocol(client: ApiClient): Promise<Sent> {
  const stats = await client.listProtocolTraffic({})
  return new Map(Object.entries(stats).map(([protocol, { TotalOut }]) => [protocol, TotalOut]))
}

function perMinute(before: Sent, after: Sent, windowMs: number): Sent {
  return new Map(
    [...after].map(([protocol, bytes]) => [
      protocol,
      (bytes - (before.get(protocol) ?? 0)) / 1000 / (windowMs / 60_000),
    ]),
  )
}

function mean(sent: readonly Sent[]) {
  const byProtocol: Record<string, number> = {}
  for (const each of sent) {
    for (const [protocol, kb] of each) byProtocol[protocol] = (byProtocol[protocol] ?? 0) + kb / sent.length
  }
  const kbPerMinute = round(Object.values(byProtocol).reduce((sum, kb) => sum + kb, 0))
  const shown = Object.entries(byProtocol).filter(([, kb]) => kb >= 0.005)
  return { kbPerMinute, byProtocol: Object.fromEntries(shown.map(([protocol, kb]) => [protocol, round(kb)])) }
}
