/**
 * All attacks at once on a network of several nodes with honest traffic: 1 nodes that know the first, each other by
 * peer exchange, 2 every attack against one of them in turn, 3 writes at all of them, 4 afterwards nobody is lost, the
 * ledgers are equal, and nothing has grown.
 */
import { readFileSync } from 'node:fs'
import type { Libp2p } from '@libp2p/interface'
import { parseToken } from '@mesh/network'
import { makeToken } from '../test/harness.ts'
import { createPeer } from './attackers.ts'
import type { Attack, Scenario } from './scenario.ts'
import { type AttackTarget, createStage } from './targets.ts'
import { pause, untilTrue } from './until-true.ts'

export interface SiegeInit {
  readonly minutes: number
  readonly nodes: number
}

export interface SiegeResult {
  readonly minutes: number
  readonly nodes: number
  /** Nodes whose process is gone, or that do not answer. */
  readonly lost: number
  /** How many writes honest members made, and how many stand on all nodes at the end. */
  readonly writes: number
  readonly arrived: number
  /** How many different digests the ledgers have at the end; 1 when all are equal. */
  readonly digests: number
  /** The greatest growth of a node's resident memory between the first minute and the end, in MB. */
  readonly grownMb: number
  /** The longest that health took to answer at any node, in ms; the machine is shared by all of them. */
  readonly healthMs: number
  readonly broke: string | undefined
}

const JOIN_MS = 120_000
/** How long the ledgers may take to be equal after the attacks, in ms. */
const EQUAL_MS = 180_000
const WRITE_EVERY_MS = 1_000

/** Attacks for so many minutes. */
export async function runSiege(scenarios: readonly Scenario[], init: SiegeInit): Promise<SiegeResult> {
  const token = makeToken()
  const stage = createStage('mesh', token)
  const peers: Libp2p[] = []
  try {
    const first = await stage.startVictim([])
    const nodes = [first]
    while (nodes.length < init.nodes) nodes.push(await stage.startMember(first))
    await untilTrue(JOIN_MS, async () => (await onlineAt(first)) >= init.nodes)
    const time = new AbortController()
    const together = scenarios.filter(({ isApart }) => isApart !== true)
    const attacks = together.map((scenario, at) => {
      const target = nodes[at % nodes.length] ?? first
      return attackUntil(scenario, { target, token, signal: time.signal, peers })
    })
    const watched = watchNodes(nodes, time.signal)
    await pause(init.minutes * 60_000)
    time.abort()
    await Promise.race([Promise.all(attacks), pause(15_000)])
    return await judge(nodes, { ...init, ...(await watched) })
  } finally {
    await Promise.all(peers.map(async (peer) => await peer.stop()))
    await stage.stop()
  }
}

interface AttackUntil {
  readonly target: AttackTarget
  readonly token: string
  readonly signal: AbortSignal
  readonly peers: Libp2p[]
}

/** Begins again when an attack ends before its time, as when it was refused. */
async function attackUntil(scenario: Scenario, { target, token, signal, peers }: AttackUntil): Promise<void> {
  const attack: Attack = {
    target,
    config: parseToken(token),
    token,
    signal,
    async peer(init) {
      const peer = await createPeer(init)
      peers.push(peer)
      // those of whom nobody knows any more
      if (peers.length > 4_000) await peers.shift()?.stop()
      return peer
    },
  }
  while (!signal.aborted) {
    await scenario.run(attack).catch(() => '')
    await pause(1_000, signal)
  }
}

interface Watched {
  readonly written: readonly string[]
  readonly residentMb: readonly number[]
  readonly healthMs: number
}

/** Writes at each node in turn, and looks at all of them. */
async function watchNodes(nodes: readonly AttackTarget[], signal: AbortSignal): Promise<Watched> {
  const written: string[] = []
  let healthMs = 0
  let residentMb: readonly number[] = []
  const began = performance.now()
  for (let at = 0; !signal.aborted; at++) {
    const node = nodes[at % nodes.length]
    if (node === undefined) break
    const key = `siege-${at}`
    const answer = await ask(`${node.url}/api/ledger/notes/${key}/x`, 'PUT')
    if (answer.ok) written.push(key)
    const asked = performance.now()
    await ask(`${node.url}${node.healthPath}`)
    healthMs = Math.max(healthMs, performance.now() - asked)
    if (residentMb.length === 0 && performance.now() - began > 60_000) residentMb = nodes.map(residentOf)
    await pause(WRITE_EVERY_MS, signal)
  }
  return { written, residentMb, healthMs }
}

async function judge(
  nodes: readonly AttackTarget[],
  { minutes, written, residentMb, healthMs }: Watched & SiegeInit,
): Promise<SiegeResult> {
  const digests = async () => new Set((await Promise.all(nodes.map(digestOf))).map(String))
  const equal = await untilTrue(EQUAL_MS, async () => (await digests()).size === 1).catch(() => false)
  const alive = await Promise.all(nodes.map(async ({ url }) => (await ask(`${url}/healthz`)).ok))
  const notes = await Promise.all(nodes.map(notesAt))
  const arrived = written.filter((key) => notes.every((held) => held.has(key))).length
  const grown = nodes.map((node, at) => residentOf(node) - (residentMb[at] ?? residentOf(node)))
  const result = {
    minutes,
    nodes: nodes.length,
    lost: alive.filter((isAlive) => !isAlive).length,
    writes: written.length,
    arrived,
    digests: equal ? 1 : (await digests()).size,
    grownMb: Math.max(...grown),
    healthMs,
  }
  return { ...result, broke: brokenOf(result) }
}

function brokenOf({
  lost,
  writes,
  arrived,
  digests,
  grownMb,
}: Omit<SiegeResult, 'broke'>): string | undefined {
  if (lost > 0) return `${lost} nodes are lost`
  if (arrived < writes) return `${writes - arrived} writes did not arrive everywhere`
  if (digests > 1) return `there are ${digests} different ledgers`
  if (grownMb > 100) return `a node grew by ${Math.round(grownMb)} MB`
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

async function ask(url: string, method = 'GET'): Promise<Response> {
  try {
    return await fetch(url, { method, signal: AbortSignal.timeout(30_000) })
  } catch {
    return new Response('{}', { status: 503 })
  }
}

/** Resident memory of a process, in MB; 0 when it is gone. */
function residentOf({ pid }: AttackTarget): number {
  try {
    const status = readFileSync(`/proc/${pid}/status`, 'utf8')
    return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0) / 1024
  } catch {
    return 0
  }
}
