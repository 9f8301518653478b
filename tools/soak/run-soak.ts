/**
 * A soak from its start to its end: 1 nodes that know the first ones; 2 for the time given writes at all of them, some
 * that end or die and come again, and one attack after another; 3 calm; 4 the verdict: memory, failures, writes, ledgers.
 */
import type { Libp2p } from '@libp2p/interface'
import { parseToken } from '@mesh/network'
import { createPeer } from '../attack/attackers.ts'
import type { Attack, Scenario } from '../attack/scenario.ts'
import { SCENARIOS } from '../attack/scenarios.ts'
import { Tally } from '../attack/tally.ts'
import { pause, untilTrue } from '../attack/until-true.ts'
import { createMesh, makeToken } from '../../apps/node/test/harness.ts'
import { judgeSoak, type SoakResult } from './judge-soak.ts'
import { createMemoryWatch } from './memory-watch.ts'
import { createSoakNodes, type SoakNode, type SoakNodes } from './soak-nodes.ts'
import { createSoakWriter } from './soak-writer.ts'

export interface SoakInit {
  readonly minutes: number
  readonly nodes: number
  /** Names of the attacks that take turns; all unless given. */
  readonly attacks?: readonly string[]
  /** How dense it is; by default such that every attack had a turn when the warm-up ends. */
  readonly pace?: Pace
  readonly onProgress?: (line: string) => void
}

/** How much is asked of a network, so that a machine with other work can run a soak, too. Times in ms. */
interface Pace {
  /** The time between the end of one node and that of the next. */
  readonly churnEveryMs: number
  /** How long one attack goes on. */
  readonly attackMs: number
  /** The time between two attacks. */
  readonly restMs: number
  readonly writeEveryMs: number
}

const CHURN_EVERY_MS = 6_000
const WRITE_EVERY_MS = 250
/** The share of the time within which every attack has a turn. */
const ROUND_SHARE = 0.4
const MAX_ATTACK_MS = 12_000
/** The share of the nodes that never end: only a process that lives through it shows whether memory grows. */
const STEADY_SHARE = 0.25
const JOIN_MS = 180_000
/** How long a node stays away, in ms. */
const AWAY_MS = 4_000
/**
 * The time without churn and attacks before memory counts the last time, in ms: a node looks every 20 s whether it can give
 * some back.
 */
const CALM_MS = 30_000
/** The most of the whole time that the calm may take beside it. */
const CALM_SHARE = 1 / 8
/** How often memory is read, in ms. */
const SAMPLE_EVERY_MS = 2_000

/** Runs a soak. Nothing of it is left when it ends. */
export async function runSoak(init: SoakInit): Promise<SoakResult> {
  const mesh = createMesh()
  const token = makeToken()
  const nodes = createSoakNodes(mesh, token)
  const tell = init.onProgress ?? (() => {})
  try {
    const steady = Math.max(2, Math.ceil(init.nodes * STEADY_SHARE))
    for (let at = 0; at < init.nodes; at++) await nodes.add({ isSteady: at < steady })
    await untilTrue(JOIN_MS, async () => (await nodes.onlineAtFirst()) >= init.nodes)
    tell(`${init.nodes} nodes have found each other, of which ${steady} stay throughout`)
    return await soak(nodes, { ...init, token, tell })
  } finally {
    await mesh.cleanUp()
  }
}

interface Soaking extends SoakInit {
  readonly token: string
  readonly tell: (line: string) => void
}

async function soak(nodes: SoakNodes, init: Soaking): Promise<SoakResult> {
  const durationMs = init.minutes * 60_000
  const time = new AbortController()
  const { signal } = time
  const pace = init.pace ?? paceOf(durationMs, attacksOf(init).length)
  const memory = createMemoryWatch(durationMs)
  const writer = createSoakWriter(nodes)
  const going = [
    every(SAMPLE_EVERY_MS, signal, async () => memory.sample(nodes.steady())),
    every(pace.writeEveryMs, signal, () => writer.write()),
    every(pace.churnEveryMs, signal, () => nodes.churn(AWAY_MS)),
    attackInTurn(nodes, { ...init, pace }, signal),
    every(60_000, signal, async () => init.tell(`${writer.made()} writes, ${nodes.churned()} restarts`)),
  ]
  await pause(durationMs)
  time.abort()
  await Promise.all(going)
  init.tell('calm')
  await nodes.allBack()
  await pause(Math.min(CALM_MS, durationMs * CALM_SHARE))
  memory.finish(nodes.steady())
  return judgeSoak({ minutes: init.minutes, nodes, memory, writer, tell: init.tell })
}

function attacksOf({ attacks }: Pick<SoakInit, 'attacks'>): readonly Scenario[] {
  return SCENARIOS.filter(({ name }) => name !== 'calm' && attacks?.includes(name) !== false)
}

/** As long as an attack goes on, the network is left to come to itself. */
function paceOf(durationMs: number, attacks: number): Pace {
  const attackMs = Math.min(MAX_ATTACK_MS, (durationMs * ROUND_SHARE) / Math.max(1, attacks) / 2)
  return { churnEveryMs: CHURN_EVERY_MS, writeEveryMs: WRITE_EVERY_MS, attackMs, restMs: attackMs }
}

/** Calls `work` again and again until the signal aborts; what it throws is told by the verdict, not here. */
async function every(ms: number, signal: AbortSignal, work: () => Promise<unknown>): Promise<void> {
  for (await pause(ms, signal); !signal.aborted; await pause(ms, signal)) await work().catch(() => {})
}

/**
 * One attack after another, each against another of the nodes that stay. The next does not wait until the peers of the one
 * before are gone, or a round of all attacks would take three times as long on a busy machine.
 */
async function attackInTurn(
  nodes: SoakNodes,
  { token, tell, pace, ...init }: Soaking & { readonly pace: Pace },
  signal: AbortSignal,
): Promise<void> {
  const chosen = attacksOf(init)
  const ends: Promise<void>[] = []
  for (let at = 0; !signal.aborted && chosen.length > 0; at++) {
    const scenario = chosen[at % chosen.length]
    const target = nodes.steady()[at % nodes.steady().length]
    if (scenario === undefined || target === undefined) break
    const { attackMs, restMs } = pace
    ends.push(
      attackOnce(scenario, target, { token, signal, attackMs }).then((said) =>
        tell(`attack ${scenario.name}: ${said}`),
      ),
    )
    await pause(attackMs + restMs, signal)
  }
  await Promise.all(ends)
}

async function attackOnce(
  scenario: Scenario,
  { target }: SoakNode,
  {
    token,
    signal,
    attackMs,
  }: { readonly token: string; readonly signal: AbortSignal; readonly attackMs: number },
): Promise<string> {
  const peers: Libp2p[] = []
  const time = new AbortController()
  const attack: Attack = {
    target,
    config: parseToken(token),
    token,
    signal: AbortSignal.any([signal, time.signal]),
    tally: new Tally(),
    async peer(peerInit) {
      const peer = await createPeer(peerInit)
      peers.push(peer)
      return peer
    },
  }
  const { tally } = attack
  const going = scenario.run(attack).catch((error: unknown) => tally.missed(error, attack.signal))
  await Promise.race([going, pause(attackMs, signal)])
  time.abort()
  await Promise.race([going, pause(10_000)])
  await Promise.all(peers.map(async (peer) => await peer.stop()))
  return String(tally)
}
