/**
 * One attack from its start to its end: 1 a victim and an honest member, 2 a probe beside them, 3 the attack for its
 * time, 4 what it reached, 5 the figures against the bounds.
 */
import type { Libp2p } from '@libp2p/interface'
import type { Signer } from '@mesh/ledger'
import { encodeToken, parseToken } from '@mesh/network'
import { makeToken } from '../../apps/node/test/harness.ts'
import { createPeer, leaveUnderWay } from './attackers.ts'
import { bringStatements, memberStatement } from './administrators.ts'
import { connectMember } from './membership.ts'
import { type ProbeResult, startProbe } from './probe.ts'
import { residentMb } from './resident.ts'
import { type Attack, type Bounds, type Measured, RECOVERY_MS, type Scenario } from './scenario.ts'
import { Tally } from './tally.ts'
import { createMember } from './voice.ts'
import type { AttackTarget, TargetKind } from './scenario.ts'
import { createStage, type Stage } from './targets.ts'
import { pause, untilTrue } from './until-true.ts'

export interface RunInit {
  readonly kind: TargetKind
  readonly seconds: number
  readonly bounds: Bounds
}

/** How long members may take to find each other, in ms. */
const JOIN_MS = 60_000
/** How long a node rests after its start before its memory counts, in ms. */
const REST_MS = 3_000
/** How long the attack itself may take to return after its time, in ms. */
const RETURN_MS = 10_000

/** Runs one scenario against nodes of its own. */
export async function runAttack(scenario: Scenario, init: RunInit): Promise<Measured> {
  const administrator = scenario.hasAdministrators === true ? createMember().signer : undefined
  const token = tokenOf(administrator)
  const stage = createStage(init.kind, token)
  try {
    const victim = await stage.startVictim(scenario)
    return await attackVictim(scenario, { ...init, token, stage, victim, administrator })
  } finally {
    await stage.stop()
  }
}

/** A new network's token, which names an administrator where there is one. */
function tokenOf(administrator: Signer | undefined): string {
  const token = makeToken()
  if (administrator === undefined) return token
  return encodeToken({ ...parseToken(token), administrators: [administrator.peerId] })
}

interface Running extends RunInit {
  readonly token: string
  readonly administrator: Signer | undefined
  readonly stage: Stage
  readonly victim: AttackTarget
}

async function attackVictim(scenario: Scenario, running: Running): Promise<Measured> {
  const { victim, seconds, token, bounds, administrator } = running
  const time = new AbortController()
  using _ = leaveUnderWay(time.signal)
  const peers: Libp2p[] = []
  const attack: Attack = {
    target: victim,
    config: parseToken(token),
    token,
    signal: time.signal,
    tally: new Tally(),
    ...(administrator !== undefined && { administrator }),
    async peer(init) {
      const peer = await createPeer(init)
      peers.push(peer)
      return peer
    },
    join: (args) => running.stage.startMember(victim, args),
  }
  const before = scenario.honestComesLate === true ? undefined : await joined(running, attack)
  const probe = { pid: victim.pid, healthUrl: victim.healthUrl, victimUrl: victim.url }
  const calm = startProbe(probe)
  await pause(REST_MS)
  const calmMs = (await calm.finish()).healthMs
  const { tally, signal } = attack
  const isReady = await prepared(scenario, attack)
  const watching = startProbe(before === undefined ? probe : { ...probe, honestUrl: before.url })
  const going = isReady
    ? scenario.run(attack).catch((error: unknown) => tally.missed(error, signal))
    : Promise.resolve()
  const late = before === undefined ? await joinLate(running, seconds) : undefined
  await pause(late === undefined ? seconds * 1000 : 0)
  const reached = await scenario.reached?.(attack)
  time.abort()
  await Promise.race([going, pause(RETURN_MS)])
  const result = await watching.finish()
  await Promise.all(peers.map(async (peer) => await peer.stop()))
  const keptMb = await keptAfter(victim.pid, result.startMb, bounds.keptMb)
  return judge(scenario, { result, tally, reached, late, calmMs, keptMb }, bounds)
}

/** Waits until the memory is back within the bound, for `RECOVERY_MS` at most; gives what is left of the growth, in MB. */
async function keptAfter(pid: number, startMb: number, mostMb: number): Promise<number> {
  const end = performance.now() + RECOVERY_MS
  let keptMb = residentMb(pid) - startMb
  while (keptMb > mostMb && performance.now() < end) {
    await pause(500)
    keptMb = residentMb(pid) - startMb
  }
  return keptMb
}

/** Makes ready what the attack needs; false when that could not be had. */
async function prepared(scenario: Scenario, attack: Attack): Promise<boolean> {
  try {
    await scenario.prepare?.(attack)
    return true
  } catch (error) {
    attack.tally.missed(error, attack.signal)
    return false
  }
}

/** Starts the honest member; both are let in where somebody has to do that. */
async function joined({ stage, victim, administrator }: Running, attack: Attack): Promise<AttackTarget> {
  const member = await stage.startMember(victim)
  if (administrator !== undefined) {
    const statements = [victim, member].map(({ id }) =>
      memberStatement(attack.config, administrator, { peer: id, state: 'admitted' }),
    )
    for (const target of [victim, member])
      await bringStatements(await connectMember({ ...attack, target }), statements, attack.signal)
  }
  await arrives(member, victim, JOIN_MS)
  return member
}

/** Writes at one node until the other has it. */
async function arrives(from: AttackTarget, to: AttackTarget, withinMs: number): Promise<void> {
  const path = '/api/ledger/notes/joined'
  await untilTrue(withinMs, async () => {
    await fetch(`${from.url}${path}/x`, { method: 'PUT' })
    const held = await fetch(`${to.url}${path}`)
    // a legacy node answers for what it has not, too
    return held.status === 200 && (await held.text()).includes('x')
  })
}

/** The time that a member took which joined during the attack, in ms; infinite when it did not. */
async function joinLate({ stage, victim }: Running, seconds: number): Promise<number> {
  await pause((seconds * 1000) / 4)
  const member = await stage.startMember(victim)
  const began = performance.now()
  try {
    await arrives(member, victim, Math.max(30_000, seconds * 1000))
    return performance.now() - began
  } catch {
    return Number.POSITIVE_INFINITY
  }
}

interface Outcome {
  readonly result: ProbeResult
  readonly tally: Tally
  readonly reached: string | undefined
  readonly late: number | undefined
  /** The longest that health took before the attack, in ms. */
  readonly calmMs: number
  readonly keptMb: number
}

function judge({ name, who, aim }: Scenario, outcome: Outcome, bounds: Bounds): Measured {
  const { result, tally, reached, late, calmMs, keptMb } = outcome
  const writes =
    late === undefined ? result : { writes: 1, arrived: Number.isFinite(late) ? 1 : 0, writeMs: late }
  const figures = {
    healthMs: result.healthMs,
    ownHealthMs: result.ownHealthMs,
    grownMb: result.grownMb,
    keptMb,
    writeMs: writes.arrived < writes.writes ? Number.POSITIVE_INFINITY : writes.writeMs,
  }
  const lateBounds = late === undefined ? bounds : { ...bounds, writeMs: Number.MAX_VALUE }
  const broke = reached ?? brokenBound(figures, lateBounds)
  const { arrived } = writes
  const carried = aim === undefined ? 'carried out' : tally.carried(aim)
  return {
    name,
    who,
    ...figures,
    calmMs,
    writes: writes.writes,
    arrived,
    carried,
    outcome: aim === undefined ? '' : String(tally),
    broke,
  }
}

function brokenBound(figures: Bounds & { readonly ownHealthMs: number }, bounds: Bounds): string | undefined {
  // a machine that is busy with the attackers must not count against the node
  const { ownHealthMs } = figures
  if (ownHealthMs > bounds.healthMs) return `health took ${Math.round(ownHealthMs)} ms of the node's own`
  if (figures.grownMb > bounds.grownMb) return `grew by ${Math.round(figures.grownMb)} MB`
  if (figures.keptMb > bounds.keptMb)
    return `kept ${Math.round(figures.keptMb)} MB of its growth ${RECOVERY_MS / 1000} s after the attack`
  if (figures.writeMs > bounds.writeMs) return 'an honest write did not arrive in time'
  return undefined
}
