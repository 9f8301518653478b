/**
 * A part of the attackers of a siege, in a process of their own that gives way to the nodes: on one machine a node that has to
 * wait for its attackers' own work would show how busy the machine is, and nothing of the node.
 *
 * Reads what to do as a line of JSON from its input, makes ready what its attacks need and says so in a line, attacks once
 * its input has ended, and writes as a line of JSON what the attacks say of themselves.
 */
import { once } from 'node:events'
import { setPriority } from 'node:os'
import { createInterface } from 'node:readline'
import type { Libp2p } from '@libp2p/interface'
import { parseToken } from '@mesh/network'
import { createPeer, leaveUnderWay, overAndOver } from './attackers.ts'
import type { Attack, Scenario } from './scenario.ts'
import { SIEGE_SCENARIOS } from './scenarios.ts'
import { type Carried, Tally } from './tally.ts'
import type { AttackTarget } from './scenario.ts'
import { pause, untilTrue } from './until-true.ts'

export interface SiegeOrders {
  readonly token: string
  readonly ms: number
  /** The nodes; each attack has one of them, in turn. */
  readonly nodes: readonly AttackTarget[]
  /** Which attacks are this process's: those whose number leaves `part` when it is divided by `parts`. */
  readonly part: number
  readonly parts: number
}

/** What one attack did. */
export interface SiegeDeed {
  readonly name: string
  /** Which of the nodes it attacked. */
  readonly node: number
  /** Whether it did at the node what it is about. */
  readonly carried: Carried
  /** What it did in all, and why what else it tried came to nothing. */
  readonly said: string
}

/** The attackers' niceness: the nodes come first. */
const NICENESS = 5
/** The most peers that attackers keep open; of more the oldest, of whom nobody knows any more, end. */
const MAX_PEERS = 1_000
/** How long attacks may take to return after their time, in ms. */
const RETURN_MS = 15_000
/**
 * How long the next attack waits for the one before to reach its node, in ms. When all begin at once on few processors,
 * all fail at the deadlines of their handshakes, and the costliest never begin.
 */
const BEGIN_MS = 15_000

/** @param begun resolves when the attacks may begin */
async function besiege(orders: SiegeOrders, begun: Promise<unknown>): Promise<readonly SiegeDeed[]> {
  const { token, ms, nodes, part, parts } = orders
  const time = new AbortController()
  using _ = leaveUnderWay(time.signal)
  const peers: Libp2p[] = []
  const own = SIEGE_SCENARIOS.flatMap((scenario, at) => {
    const node = at % nodes.length
    const target = nodes[node]
    if (target === undefined || at % parts !== part) return []
    const from = addressOf(at)
    const attack = createAttack({ target, token, signal: time.signal, peers, from })
    return [{ scenario, node, attack }]
  })
  const isFirst = ({ scenario }: (typeof own)[number]) => scenario.hasLongBeginning === true
  const inOrder = [...own.filter(isFirst), ...own.filter((each) => !isFirst(each))]
  for (const { scenario, attack } of own)
    await scenario.prepare?.(attack).catch((error: unknown) => attack.tally.missed(error, time.signal))
  console.log('ready')
  await begun
  setTimeout(() => time.abort(), ms)
  const attacks: Promise<void>[] = []
  for (const { scenario, attack } of inOrder) {
    // each attack begins again when it ends before its time
    attacks.push(overAndOver(attack, () => scenario.run(attack), 1_000))
    await untilCarried(scenario, attack)
  }
  if (!time.signal.aborted) await once(time.signal, 'abort')
  await Promise.race([Promise.all(attacks), pause(RETURN_MS)])
  return own.map(({ scenario, node, attack: { tally } }) => ({
    name: scenario.name,
    node,
    carried: scenario.aim === undefined ? 'carried out' : tally.carried(scenario.aim),
    said: String(tally),
  }))
}

interface AttackInit {
  readonly target: AttackTarget
  readonly token: string
  readonly signal: AbortSignal
  readonly peers: Libp2p[]
  readonly from: string
}

/** Each attack comes from an address of its own, or they would stand in each other's way where addresses have shares. */
const addressOf = (attack: number) => `127.0.1.${attack + 1}`

function createAttack({ target, token, signal, peers, from }: AttackInit): Attack {
  return {
    target,
    config: parseToken(token),
    token,
    signal,
    tally: new Tally(),
    async peer(init) {
      const peer = await createPeer({ from, ...init })
      peers.push(peer)
      if (peers.length > MAX_PEERS) await peers.shift()?.stop()
      return peer
    },
  }
}

/** Resolves when the attack has done at its node what it is about, or has had its time for that. */
async function untilCarried({ aim }: Scenario, { tally, signal }: Attack): Promise<void> {
  if (aim === undefined) return
  const isOver = async () => signal.aborted || tally.carried(aim) === 'carried out'
  await untilTrue(BEGIN_MS, isOver).catch(() => {})
}

setPriority(NICENESS)
const input = createInterface({ input: process.stdin })
const begun = once(input, 'close')
const [orders] = await once(input, 'line')
console.log(JSON.stringify(await besiege(JSON.parse(orders) as SiegeOrders, begun)))
process.exit()
