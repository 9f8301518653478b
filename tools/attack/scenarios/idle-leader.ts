/** An attack by doing nothing: a member whose key wins every election leaves undone what the elected one does. */
import { fnv1a32 } from '@mesh/core'
import { createNodeSigner } from '@mesh/ledger/node'
import { dialTarget, overAndOver, sendAll } from '../attackers.ts'
import { createSealing, gossipFrame, gzippedBlock, openGossip, signMessage } from '../gossip.ts'
import { entriesOf, GONE, HOUR_MS, liveAt, whyUnequal, writeHistory } from '../history.ts'
import { proveMembership } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import type { AttackTarget } from '../scenario.ts'
import { pause, untilTrue } from '../until-true.ts'
import { heartbeatOf } from '../voice.ts'

const REPLICATION = '/mesh/replication/1'
/** Owned by who signs, and owned by whom the value names. */
const BUCKETS = ['dns', 'services']
const ENTRIES = 20
const WRITTEN_MS = Date.now() - 5 * HOUR_MS
/** Nodes beside the victim that look for what is overdue, and how often they do. */
const OTHERS = 2
const SCRUB_ARGS = ['--aliveness-healthcheck-scrub-interval=10s']
/** How often the idle leader says that it lives, in ms. */
const BEAT_MS = 5_000
/**
 * How long overdue entries may stand, in ms. At each look one of five that live ends them with one chance in five, so that
 * of a thousand runs one takes longer.
 */
const ENDED_WITHIN_MS = 120_000

/** The seed of a key that wins every election: of some thousands one is greater than those of any few members. */
function findWinner(): Uint8Array {
  for (let at = 0; ; at++) {
    const seed = Buffer.alloc(32, 'idle')
    seed.writeUInt32BE(at)
    if (fnv1a32(createNodeSigner(seed).peerId) > 0xfff0_0000) return seed
  }
}

/** A key that is elected by all to whom it is connected, and does nothing; resolves when it stands at all of them. */
async function leadIdly(attack: Attack, targets: readonly AttackTarget[], seed: Uint8Array): Promise<void> {
  const { signal, config, tally } = attack
  const sealing = createSealing(config)
  const signer = createNodeSigner(seed)
  const peer = await attack.peer({ seed })
  await peer.handle(REPLICATION, () => tally.count('sessions that it left alone'))
  const stand = async (target: AttackTarget) => {
    const connection = await dialTarget(peer, target, signal)
    await proveMembership({ connection, self: peer.peerId }, config, signal)
    const stream = await openGossip(connection, [sealing.topic()], signal)
    while (!signal.aborted && stream.status === 'open') {
      // the topic changes now and then
      const topic = sealing.topic()
      const message = await signMessage(seed, topic, sealing.envelope(gzippedBlock([heartbeatOf(signer)])))
      const frame = gossipFrame({ subscriptions: [{ subscribe: true, topic }], messages: [message] })
      if (await sendAll(stream, frame, signal)) tally.count('heartbeats')
      await pause(BEAT_MS, signal)
    }
  }
  for (const target of targets) void overAndOver(attack, () => stand(target))
}

/** A ledger in which entries of a member that is gone were never ended, and in which the idle leader lives. */
async function writeOverdue(folder: string): Promise<void> {
  const entries = entriesOf(GONE, BUCKETS, { count: ENTRIES, atMs: WRITTEN_MS })
  await writeHistory(folder, [
    { atMs: WRITTEN_MS, entries },
    { atMs: Date.now(), entries: [heartbeatOf(createNodeSigner(winner()))] },
  ])
}

let found: Uint8Array | undefined
const winner = () => (found ??= findWinner())

const networks = new WeakMap<Attack, readonly AttackTarget[]>()

export const IDLE_LEADER_ATTACKS: readonly Scenario[] = [
  {
    name: 'idle-leader',
    who: 'member',
    does: `a key that wins every election leaves ${ENTRIES * BUCKETS.length} entries of a member that is gone for hours where they are`,
    boundedBy: 'one of the others, drawn at random, ends what is overdue; OVERDUE_MS',
    legacy: { meaningless: 'none but the elected leader ends what is overdue' },
    isApart: true,
    victimArgs: SCRUB_ARGS,
    aim: 'overdue entries',
    prepareLedger: writeOverdue,
    async prepare(attack) {
      const { join, target, tally } = attack
      if (join === undefined) throw new Error('nobody may join')
      const entries = entriesOf(GONE, BUCKETS, { count: ENTRIES, atMs: WRITTEN_MS })
      tally.count('overdue entries', await liveAt(target, entries))
      const others = await Promise.all(Array.from({ length: OTHERS }, () => join(SCRUB_ARGS)))
      networks.set(attack, [target, ...others])
    },
    async run(attack) {
      await leadIdly(attack, networks.get(attack) ?? [], winner())
    },
    async reached(attack) {
      const nodes = networks.get(attack) ?? []
      const entries = entriesOf(GONE, BUCKETS, { count: ENTRIES, atMs: WRITTEN_MS })
      const began = performance.now()
      const areEnded = async () =>
        (await Promise.all(nodes.map((node) => liveAt(node, entries)))).every((live) => live === 0)
      if (!(await untilTrue(ENDED_WITHIN_MS, areEnded).catch(() => false)))
        return 'what is overdue was never ended'
      attack.tally.count('ms until they were ended after its time', performance.now() - began)
      return await whyUnequal(nodes)
    },
  },
]
