/**
 * Many members in virtual time: they write, claim, delete and announce while messages are lost, doubled and
 * overtake each other, the network falls apart and heals, clocks are wrong and some members mean ill.
 */
import type { PeerId } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { createHostile } from './hostile-members.ts'
import { createSimNetwork, type SimNetwork } from './sim-network.ts'
import { contentOf, createSimSigner, type SimNode, startSimNode } from './sim-node.ts'

const SECOND = 1000
const MINUTE = 60 * SECOND

export interface SimulationOutcome {
  readonly nodes: readonly SimNode[]
  readonly network: SimNetwork
  /** Keys that some node lists as conflicts, `bucket/key`. */
  readonly conflicts: ReadonlySet<string>
  /** What each node holds, without those keys. */
  readonly contents: readonly (readonly string[])[]
  readonly digests: ReadonlySet<string>
}

export async function simulate(seed: number, count: number): Promise<SimulationOutcome> {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12, 9))
  const random = createSeededRandom(seed)
  const network = createSimNetwork({ loss: 0.05, duplication: 0.05, latencyMs: [5, 400] }, { clock, random })
  const at = { clock, random, network }
  const chance = (part: number) => random.float() < part
  const draw = (count: number) => Math.floor(random.float() * count)

  const signers = Array.from({ length: count }, () => createSimSigner(random))
  const ids = signers.map(({ peerId }) => peerId)
  const nodes: SimNode[] = []
  for (const [number, signer] of signers.entries()) {
    // A ring with chords: everybody has about four connections.
    const near = new Set([1, 1 + draw(count)].map((step) => ids[(number + step) % count]))
    const skewMs =
      number % 25 === 7 ? (chance(0.5) ? 300 : -300) * SECOND : (random.float() - 0.5) * 200 * SECOND
    nodes.push(await startSimNode({ signer, skewMs, neighbours: (peer) => near.has(peer) }, at))
  }
  const hostiles = Array.from({ length: 4 }, () => createHostile(createSimSigner(random), ids, at))
  for (const [number, node] of nodes.entries()) {
    node.replicator.keepAnnounced('users', node.id, () => JSON.stringify({ PeerID: node.id }))
    // Some addresses are wanted by several.
    const address = number % 10 === 3 ? `10.1.0.${draw(3)}` : `10.1.1.${number}`
    node.replicator.keepAnnounced('machines', address, () => JSON.stringify({ PeerID: node.id }))
  }

  const act = (node: SimNode) => {
    const write = draw(10)
    try {
      if (write < 4)
        node.ledger.put('notes', `shared ${draw(30)}`, JSON.stringify(`${node.id} ${clock.now()}`))
      else if (write < 6) node.ledger.delete('notes', `shared ${draw(30)}`)
      else if (write < 8) node.ledger.put('dns', `name of ${node.id}`, `{"1":"10.1.0.${draw(250)}"}`)
      else if (write < 9) node.ledger.delete('dns', `name of ${node.id}`)
      else node.ledger.put('dns', `contested ${draw(5)}`, JSON.stringify(node.id))
    } catch {
      // Refused here and now: another owner lives.
    }
  }
  const groups = new Map<PeerId, number>()
  for (let minute = 0; minute < 5; minute++) {
    if (minute === 1 || minute === 3) {
      for (const id of [...ids, ...hostiles.map((hostile) => hostile.id)])
        groups.set(id, draw(minute === 1 ? 2 : 4))
      network.partition((peer) => groups.get(peer) ?? 0)
    }
    if (minute === 2 || minute === 4) network.partition(undefined)
    for (let step = 0; step < 6; step++) {
      for (let writes = count / 20; writes > 0; writes--) {
        const node = nodes[draw(count)]
        if (node !== undefined) act(node)
      }
      await clock.advance(10 * SECOND)
    }
    if (minute % 2 === 0) for (const hostile of hostiles) hostile.act()
  }
  network.calm()
  // Nobody agrees with a clock that is minutes off; a person sets it right.
  for (const node of nodes) {
    if (Math.abs(node.clock.now() - clock.now()) > 120 * SECOND) node.setClock(0)
  }
  // What silent members left goes ten minutes after they wrote it. Whose clock is ahead says so first, and clocks
  // that are two minutes behind that one take it when they get there.
  await clock.advance(14 * MINUTE)

  const conflicts = new Set(
    nodes.flatMap(({ ledger }) => ledger.conflicts().map(({ bucket, key }) => `${bucket}/${key}`)),
  )
  const contents = nodes.map(({ ledger }) => contentOf(ledger, conflicts))
  const digests = new Set(nodes.map(({ ledger }) => ledger.snapshot().digest().digest))
  await Promise.all(nodes.map((node) => node.kill()))
  return { nodes, network, conflicts, contents, digests }
}
