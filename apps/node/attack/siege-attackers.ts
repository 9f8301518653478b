/**
 * A part of the attackers of a siege, in a process of their own that gives way to the nodes: on one machine a node that has to
 * wait for its attackers' own work would show how busy the machine is, and nothing of the node.
 *
 * Reads what to do as JSON from its input, attacks for that time, and writes as JSON what the attacks say of themselves.
 */
import { setPriority } from 'node:os'
import { text } from 'node:stream/consumers'
import type { Libp2p } from '@libp2p/interface'
import { parseToken } from '@mesh/network'
import { createPeer, overAndOver } from './attackers.ts'
import type { Attack, Scenario } from './scenario.ts'
import { SIEGE_SCENARIOS } from './scenarios.ts'
import { type Carried, Tally } from './tally.ts'
import type { AttackTarget } from './targets.ts'
import { pause } from './until-true.ts'

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

async function besiege({ token, ms, nodes, part, parts }: SiegeOrders): Promise<readonly SiegeDeed[]> {
  const time = new AbortController()
  // what an attack leaves under way ends with the time, and nobody waits for it
  process.on('unhandledRejection', (error) => {
    if (!time.signal.aborted) throw error
  })
  const peers: Libp2p[] = []
  const own = SIEGE_SCENARIOS.flatMap((scenario, at) => {
    const node = at % nodes.length
    const target = nodes[node]
    if (target === undefined || at % parts !== part) return []
    const from = addressOf(at)
    const attack = createAttack({ target, token, signal: time.signal, peers, from })
    return [{ scenario, node, attack }]
  })
  const attacks = own.map(({ scenario, attack }) => attackUntil(scenario, attack))
  await pause(ms)
  time.abort()
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

/** Begins again when an attack ends before its time. */
async function attackUntil(scenario: Scenario, attack: Attack): Promise<void> {
  const { signal, tally } = attack
  await scenario.prepare?.(attack).catch((error: unknown) => tally.missed(error, signal))
  await overAndOver(attack, () => scenario.run(attack), 1_000)
}

setPriority(NICENESS)
const orders = JSON.parse(await text(process.stdin)) as SiegeOrders
console.log(JSON.stringify(await besiege(orders)))
process.exit()
