/**
 * All attacks at once on a network of several nodes with honest traffic: 1 nodes that know the first, each other by
 * peer exchange, 2 every attack against one of them in turn, from processes that give way to the nodes, 3 writes at all
 * of them, 4 afterwards nobody is lost, the ledgers are equal, and nothing has grown.
 */
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import { fileURLToPath } from 'node:url'
import { makeToken } from '../../apps/node/test/harness.ts'
import { residentMb } from './resident.ts'
import { SUITE_BOUNDS } from './scenario.ts'
import { SIEGE_SCENARIOS } from './scenarios.ts'
import type { SiegeDeed, SiegeOrders } from './siege-attackers.ts'
import { outcomesOf, type SiegeOutcomes } from './siege-deeds.ts'
import { type NodeFigures, type Watched, watchNodes } from './siege-watch.ts'
import type { AttackTarget } from './scenario.ts'
import { createStage } from './targets.ts'
import { pause, untilTrue } from './until-true.ts'

export interface SiegeInit {
  readonly minutes: number
  readonly nodes: number
}

export interface SiegeResult extends SiegeInit {
  /** Nodes whose process is gone, or that do not answer. */
  readonly lost: number
  /** How many writes honest members made, and how many stand on all nodes at the end. */
  readonly writes: number
  readonly arrived: number
  /** How many different digests the ledgers have at the end; 1 when all are equal. */
  readonly digests: number
  /** The greatest growth of a node's resident memory from the first minute to the end, in MB: bounds fill up. */
  readonly filledMb: number
  /** How much more than ever in the first half of the siege a node had in its second half, in MB. */
  readonly grownMb: number
  /** The longest that health took to answer at any node, in ms; the machine is shared by all of them. */
  readonly healthMs: number
  /** The same without the time in which that node waited for a processor, in ms. */
  readonly ownHealthMs: number
  readonly figures: readonly NodeFigures[]
  readonly deeds: readonly SiegeDeed[]
  /** What became of all attacks: those that never reached their node prove nothing. */
  readonly outcomes: SiegeOutcomes
  /** What should have held and did not; an attack that did not reach its node is no such thing. */
  readonly broke: string | undefined
}

const JOIN_MS = 120_000
/** How long the ledgers may take to be equal after the attacks, in ms. */
const EQUAL_MS = 180_000
/** Processes of attackers: in one alone the busiest attack would hold up all others. */
const ATTACKERS = 8
/** How long the attackers may take to end after their time, in ms. */
const ATTACKERS_END_MS = 60_000
/** The most that a node may grow, in MB. */
const MAX_GROWN_MB = SUITE_BOUNDS.grownMb

/** Attacks for so many minutes. */
export async function runSiege(init: SiegeInit): Promise<SiegeResult> {
  const token = makeToken()
  const stage = createStage('mesh', token)
  const ending = new AbortController()
  try {
    const first = await stage.startVictim({ needs: neededAt(0, init.nodes) })
    const nodes = [first]
    while (nodes.length < init.nodes)
      nodes.push(await stage.startMember(first, neededAt(nodes.length, init.nodes)))
    await untilTrue(JOIN_MS, async () => (await onlineAt(first)) >= init.nodes)
    const ms = init.minutes * 60_000
    const parts = Array.from({ length: ATTACKERS }, (_, part) => ({
      token,
      ms,
      nodes,
      part,
      parts: ATTACKERS,
    }))
    const attackers = parts.map((orders) => startAttackers(orders, ending.signal))
    await Promise.all(attackers.map(({ ready }) => ready))
    for (const { begin } of attackers) begin()
    const time = new AbortController()
    const watched = watchNodes(nodes, ms, time.signal)
    await pause(ms)
    time.abort()
    const seen = await watched
    const late = pause(ATTACKERS_END_MS).then(() => [])
    const deeds = await Promise.all(attackers.map((each) => Promise.race([each.deeds, late])))
    return await judge(nodes, { ...init, ...seen, deeds: deeds.flat() })
  } finally {
    ending.abort()
    await stage.stop()
  }
}

/** The arguments without which the attacks on this node were about nothing. */
function neededAt(node: number, nodes: number): readonly string[] {
  return SIEGE_SCENARIOS.flatMap(({ needs = [] }, at) => (at % nodes === node ? needs : []))
}

interface Attackers {
  /** Resolves when they have what their attacks need. */
  readonly ready: Promise<unknown>
  begin(): void
  /** What the attacks did; nothing when their process failed. */
  readonly deeds: Promise<readonly SiegeDeed[]>
}

function startAttackers(orders: SiegeOrders, signal: AbortSignal): Attackers {
  const program = fileURLToPath(new URL('./siege-attackers.ts', import.meta.url))
  const child = spawn(process.execPath, ['--conditions=mesh-source', program], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  signal.addEventListener('abort', () => child.kill('SIGKILL'), { once: true })
  child.stdin.write(`${JSON.stringify(orders)}\n`)
  const lines = createInterface({ input: child.stdout })
  let said = '[]'
  const ready = Promise.race([once(lines, 'line'), once(lines, 'close')])
  const closed = once(
    lines.on('line', (line) => (said = line)),
    'close',
  )
  return {
    ready,
    begin: () => child.stdin.end(),
    deeds: closed.then(() => (said.startsWith('[') ? (JSON.parse(said) as readonly SiegeDeed[]) : [])),
  }
}

async function judge(
  nodes: readonly AttackTarget[],
  {
    minutes,
    written,
    nodes: figures,
    deeds,
  }: { readonly minutes: number; readonly deeds: readonly SiegeDeed[] } & Watched,
): Promise<SiegeResult> {
  const digests = async () => new Set((await Promise.all(nodes.map(digestOf))).map(String))
  const equal = await untilTrue(EQUAL_MS, async () => (await digests()).size === 1).catch(() => false)
  const alive = await Promise.all(nodes.map(async ({ url }) => (await ask(`${url}/healthz`)).ok))
  const notes = await Promise.all(nodes.map(notesAt))
  const arrived = written.filter((key) => notes.every((held) => held.has(key))).length
  const greatest = (of: (figures: NodeFigures) => number) => Math.max(...figures.map(of))
  for (const [at, { pid }] of nodes.entries()) {
    const seen = figures[at]
    if (seen !== undefined) seen.nowMb = residentMb(pid)
  }
  const result = {
    minutes,
    nodes: nodes.length,
    lost: alive.filter((isAlive) => !isAlive).length,
    writes: written.length,
    arrived,
    digests: equal ? 1 : (await digests()).size,
    filledMb: greatest(({ firstMb, nowMb }) => nowMb - firstMb),
    grownMb: greatest(({ halfMb, greatestMb }) => greatestMb - halfMb),
    healthMs: greatest(({ healthMs }) => healthMs),
    ownHealthMs: greatest(({ ownHealthMs }) => ownHealthMs),
    figures,
    deeds,
    outcomes: outcomesOf(
      deeds,
      SIEGE_SCENARIOS.map(({ name }) => name),
    ),
  }
  return { ...result, broke: brokenOf(result) }
}

function brokenOf(result: Omit<SiegeResult, 'broke'>): string | undefined {
  const { lost, writes, arrived, digests, grownMb, outcomes } = result
  if (outcomes.carriedOut === 0) return 'no attack was carried out'
  const { failed } = outcomes
  if (failed.length > 0) return `these attacks failed by themselves: ${failed.join(', ')}`
  if (lost > 0) return `${lost} nodes are lost`
  if (arrived < writes) return `${writes - arrived} writes did not arrive everywhere`
  if (digests > 1) return `there are ${digests} different ledgers`
  if (grownMb > MAX_GROWN_MB) return `a node grew by ${Math.round(grownMb)} MB`
  return undefined
}

async function onlineAt({ url }: AttackTarget): Promise<number> {
  return ((await (await ask(`${url}/api/nodes`)).json()) as unknown[]).length
}

async function digestOf({ url }: AttackTarget): Promise<unknown> {
  return ((await (await ask(`${url}/api/digest`)).json()) as { readonly Digest?: string }).Digest
}

async function notesAt({ url }: AttackTarget): Promise<ReadonlySet<string>> {
  return new Set(Object.keys((await (await ask(`${url}/api/ledger/notes`)).json()) as object))
}

async function ask(url: string): Promise<Response> {
  try {
    return await fetch(url, { signal: AbortSignal.timeout(30_000) })
  } catch {
    return new Response('{}', { status: 503 })
  }
}
