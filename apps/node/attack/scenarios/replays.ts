/** Attacks on newcomers, which do not know what has ended: members hand them old entries, as their owners signed them. */
import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { systemClock } from '@mesh/core'
import { createLedger, type KeyedEntry, type Signer } from '@mesh/ledger'
import { createNodeSigner, createNodeVerifier, openDiskStore } from '@mesh/ledger/node'
import { encodeSyncMessage, type SyncMessage } from '@mesh/replication'
import { framed, onFrames, openStream, overAndOver, sendAll, together } from '../attackers.ts'
import { signEntry } from '../gossip.ts'
import { connectMember } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { RefusedError } from '../tally.ts'
import type { AttackTarget } from '../targets.ts'
import { pause, untilTrue } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice, sayEntries } from '../voice.ts'

const REPLICATION = '/mesh/replication/1'
const HOUR_MS = 3_600_000
/** Newcomers that are attacked, old entries of each bucket, and old entries of the attacker itself. */
const [NEWCOMERS, ENTRIES, OWN_ENTRIES] = [2, 20, 1_000]
/** Keys that bring the attacker's own old entries without pause. */
const FLOODERS = 4
/** How long old entries may stand at a newcomer, in ms: until it is asked, or asks, for the sake of news. */
const MAX_STANDING_MS = 10_000
/** How long the ledgers may take to be equal after the attack, in ms. */
const EQUAL_WITHIN_MS = 15_000
const READY_MS = 30_000

/** A member that is gone for good, and a key of the attacker. */
const [gone, flooder] = [77, 78].map((byte) => createNodeSigner(new Uint8Array(32).fill(byte))) as [
  Signer,
  Signer,
]
/** When they wrote; an hour later they ended all of it. */
const WRITTEN_MS = Date.now() - 5 * HOUR_MS
/** Open, owned by who signs, and owned by whom the value names. */
const BUCKETS = ['old-notes', 'dns', 'services']

/** Entries, and what ended them a while later. */
function endedEntries(
  signer: Signer,
  buckets: readonly string[],
  count: number,
  [atMs, laterMs]: readonly number[],
) {
  const signAll = (time = 0, deleted = false) =>
    buckets.flatMap((bucket) =>
      Array.from({ length: count }, (_, at) => {
        const change = { version: BigInt(time) * 1_000_000n, updatedAt: Math.floor(time / 1_000), deleted }
        return signEntry(signer, [bucket, `old${at}`, { PeerID: signer.peerId }], change)
      }),
    )
  return { entries: signAll(atMs), tombstones: signAll(laterMs, true) }
}

const OLD = endedEntries(gone, BUCKETS, ENTRIES, [WRITTEN_MS, WRITTEN_MS + HOUR_MS])
const OWN = endedEntries(flooder, ['own-notes'], OWN_ENTRIES, [WRITTEN_MS, WRITTEN_MS + HOUR_MS])

/** Writes a ledger in which entries were held, and ended, and their tombstones collected, each in its time. */
async function writeHistory(folder: string): Promise<void> {
  let nowMs = WRITTEN_MS
  const ledger = createLedger(
    {},
    {
      signer: gone,
      verify: createNodeVerifier(),
      clock: { ...systemClock, now: () => nowMs },
      store: openDiskStore({ path: join(folder, 'ledger.db') }),
    },
  )
  ledger.merge([heartbeatOf(gone, nowMs), ...OLD.entries, ...OWN.entries], undefined)
  nowMs += HOUR_MS
  ledger.merge([...OLD.tombstones, ...OWN.tombstones], undefined)
  nowMs += HOUR_MS
  let collected = 0
  for (let more = true; more; ) {
    const reaped = ledger.reap()
    collected += reaped.collected
    more = reaped.hasMore
  }
  await ledger.stop()
  const wanted = OLD.tombstones.length + OWN.tombstones.length
  if (collected !== wanted) throw new Error(`${collected} of ${wanted} tombstones were collected`)
}

const NOTHING: SyncMessage = { ranges: [], lists: [], wants: [], entries: [], refused: [], more: false }
const said = (message: Partial<SyncMessage>) => framed(encodeSyncMessage({ ...NOTHING, ...message }))

/** Brings entries in a session under a fresh key; resolves when they were judged. */
async function bring(attack: Attack, target: AttackTarget, entries: readonly KeyedEntry[]): Promise<void> {
  const { signal } = attack
  const { connection } = await connectMember({ ...attack, target })
  const stream = await openStream(connection, REPLICATION, signal)
  const hello = { size: entries.length, digest: randomBytes(16), heartbeats: randomBytes(16) }
  await new Promise<void>((resolve, reject) => {
    let turns = 0
    onFrames(stream, () => {
      if (++turns === 1) void sendAll(stream, said({ entries }), signal)
      else resolve()
    })
    stream.addEventListener('close', () => reject(new RefusedError('the session was ended')))
    signal.addEventListener('abort', () => reject(signal.reason as Error), { once: true })
    void sendAll(stream, said({ hello }), signal)
  })
  await connection.close()
}

/** How many of these keys are live at a node. */
async function liveAt({ url }: AttackTarget, entries: readonly KeyedEntry[]): Promise<number> {
  const buckets = [...new Set(entries.map(({ bucket }) => bucket))]
  const live = await Promise.all(
    buckets.map(async (bucket) => {
      const held = (await (await fetch(`${url}/api/ledger/${bucket}`)).json()) as Record<string, unknown>
      return entries.filter((each) => each.bucket === bucket && each.key in held).length
    }),
  )
  return live.reduce((sum, each) => sum + each, 0)
}

async function digestOf({ url }: AttackTarget): Promise<string> {
  const { Digest } = (await (await fetch(`${url}/api/digest`)).json()) as { readonly Digest: string }
  return Digest
}

/** Says and ends entries, of which the victim keeps the tombstones. */
async function sayAndEnd(attack: Attack): Promise<readonly KeyedEntry[]> {
  const { seed, signer } = createMember()
  const now = Date.now()
  const { entries, tombstones } = endedEntries(signer, ['young-notes'], ENTRIES, [now - 1_000, now])
  const voice = await openVoice(attack)
  const last = entries.slice(-1)
  await sayEntries(voice, seed, [heartbeatOf(signer), ...entries])
  await untilTrue(READY_MS, async () => (await liveAt(attack.target, last)) > 0)
  await sayEntries(voice, seed, tombstones)
  await untilTrue(READY_MS, async () => (await liveAt(attack.target, last)) === 0)
  return entries
}

/** Watches how long ended entries stand at a node. */
async function watch({ signal, tally }: Attack, node: AttackTarget, replay: Replay): Promise<void> {
  let since: number | undefined
  let most = 0
  while (!signal.aborted) {
    const live = await liveAt(node, replay.ended)
    tally.count('old entries that stood', Math.max(0, live - most))
    most = Math.max(most, live)
    since = live === 0 ? undefined : (since ?? performance.now())
    if (since !== undefined) replay.stoodMs = Math.max(replay.stoodMs, performance.now() - since)
    await pause(50, signal)
  }
}

interface Replay {
  readonly nodes: readonly AttackTarget[]
  readonly ended: readonly KeyedEntry[]
  /** The longest that any of them stood at a newcomer, in ms. */
  stoodMs: number
}
const replays = new WeakMap<Attack, Replay>()

/** Hands entries to one node in a session, and to the next over the topic, again and again. */
async function replay(attack: Attack, newcomer: AttackTarget, at: number, ended: readonly KeyedEntry[]) {
  const { tally, signal } = attack
  await overAndOver(
    attack,
    async () => {
      if (at % 2 === 0) {
        await bring(attack, newcomer, ended)
        return tally.count('old entries brought', ended.length)
      }
      const { seed, signer } = createMember()
      const voice = await openVoice({ ...attack, target: newcomer })
      tally.count('old entries said', await sayEntries(voice, seed, [heartbeatOf(signer), ...ended]))
      await pause(500, signal)
    },
    1_000,
  )
}

export const REPLAY_ATTACKS: readonly Scenario[] = [
  {
    name: 'replayed-entries',
    who: 'member',
    does:
      `${NEWCOMERS} nodes join that do not know what has ended; keys hand one of them ${ENTRIES * BUCKETS.length} old entries of a member that is gone, and ` +
      `${ENTRIES} that just ended, in sessions, the other over the topic, again and again; ${FLOODERS} more bring the victim ${OWN_ENTRIES} old entries of their own without pause`,
    boundedBy:
      'whoever knows that an entry has ended answers with a tombstone when ledgers are compared; SPREAD_DELAY_MS, SESSIONS_TIME_SHARE, RETRACTIONS_PER_SECOND',
    appliesToLegacy: false,
    isApart: true,
    aim: 'old entries that stood',
    prepareLedger: writeHistory,
    async run(attack) {
      const { join, tally, target } = attack
      if (join === undefined) throw new Error('nobody may join')
      const young = await sayAndEnd(attack)
      const newcomers = await Promise.all(Array.from({ length: NEWCOMERS }, join))
      const ended = [...OLD.entries, ...young]
      const running: Replay = { nodes: [target, ...newcomers], ended, stoodMs: 0 }
      replays.set(attack, running)
      await Promise.all([
        ...newcomers.map((newcomer) => watch(attack, newcomer, running)),
        ...newcomers.map((newcomer, at) => replay(attack, newcomer, at, ended)),
        together(FLOODERS, () =>
          overAndOver(attack, async () => {
            await bring(attack, target, OWN.entries)
            tally.count('sessions with old entries of its own')
          }),
        ),
      ])
    },
    async reached(attack) {
      const running = replays.get(attack)
      if (running === undefined) return 'no newcomer joined'
      const { nodes, ended, stoodMs } = running
      attack.tally.count('ms that they stood', stoodMs)
      if (stoodMs > MAX_STANDING_MS) return `ended entries stood for ${Math.round(stoodMs / 1_000)} s`
      const areEqual = async () => new Set(await Promise.all(nodes.map(digestOf))).size === 1
      if (!(await untilTrue(EQUAL_WITHIN_MS, areEqual).catch(() => false))) return 'the ledgers differ'
      const live = await Promise.all(nodes.map((node) => liveAt(node, ended)))
      return live.some((each) => each > 0) ? 'ended entries are held by all' : undefined
    },
  },
]
