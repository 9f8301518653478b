/** Attacks on newcomers, which do not know what has ended: members hand them old entries, as their owners signed them. */
import { randomBytes } from 'node:crypto'
import type { KeyedEntry } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { encodeSyncMessage, type SyncMessage } from '@mesh/replication'
import { framed, onFrames, openStream, overAndOver, sendAll, together } from '../attackers.ts'
import { entriesOf, GONE, HOUR_MS, liveAt, whyUnequal, writeHistory } from '../history.ts'
import { connectMember } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { RefusedError } from '../tally.ts'
import type { AttackTarget } from '../scenario.ts'
import { pause, untilTrue } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice, sayEntries } from '../voice.ts'

const REPLICATION = '/mesh/replication/1'
/** Newcomers that are attacked, old entries of each bucket, and old entries of the attacker itself. */
const [NEWCOMERS, ENTRIES, OWN_ENTRIES] = [2, 20, 1_000]
/** Keys that bring the attacker's own old entries without pause. */
const FLOODERS = 4
/** How long old entries may stand at a newcomer, in ms: until it is asked, or asks, for the sake of news. */
const MAX_STANDING_MS = 10_000
const READY_MS = 30_000

/** When old entries were written; an hour later they were ended, and an hour after that their tombstones collected. */
const WRITTEN_MS = Date.now() - 5 * HOUR_MS
/** Open, owned by who signs, and owned by whom the value names. */
const BUCKETS = ['old-notes', 'dns', 'services']
/** A key of the attacker. */
const flooder = createNodeSigner(new Uint8Array(32).fill(78))

const oldEntries = (atMs: number, deleted = false) =>
  entriesOf(GONE, BUCKETS, { count: ENTRIES, atMs, deleted })
const ownEntries = (atMs: number, deleted = false) =>
  entriesOf(flooder, ['own-notes'], { count: OWN_ENTRIES, atMs, deleted })

function writeEnded(folder: string): Promise<void> {
  const endedMs = WRITTEN_MS + HOUR_MS
  return writeHistory(folder, [
    { atMs: WRITTEN_MS, entries: [...oldEntries(WRITTEN_MS), ...ownEntries(WRITTEN_MS)] },
    { atMs: endedMs, entries: [...oldEntries(endedMs, true), ...ownEntries(endedMs, true)] },
    { atMs: endedMs + HOUR_MS },
  ])
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

/** Says and ends entries, of which the victim keeps the tombstones. */
async function sayAndEnd(attack: Attack): Promise<readonly KeyedEntry[]> {
  const { seed, signer } = createMember()
  const now = Date.now()
  const said = (atMs: number, deleted: boolean) =>
    entriesOf(signer, ['young-notes'], { count: ENTRIES, atMs, deleted })
  const entries = said(now - 1_000, false)
  const voice = await openVoice(attack)
  const last = entries.slice(-1)
  await sayEntries(voice, seed, [heartbeatOf(signer), ...entries])
  await untilTrue(READY_MS, async () => (await liveAt(attack.target, last)) > 0)
  await sayEntries(voice, seed, said(now, true))
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
      'whoever knows that an entry has ended answers with a tombstone when ledgers are compared; SPREAD_DELAY_MS, the loop budget, RETRACTIONS_PER_SECOND',
    legacy: { meaningless: 'forgets in 45 minutes what has ended, and takes it anew' },
    isApart: true,
    aim: 'old entries that stood',
    prepareLedger: writeEnded,
    async run(attack) {
      const { join, tally, target } = attack
      if (join === undefined) throw new Error('nobody may join')
      const young = await sayAndEnd(attack)
      const newcomers = await Promise.all(Array.from({ length: NEWCOMERS }, () => join()))
      const ended = [...oldEntries(WRITTEN_MS), ...young]
      const own = ownEntries(WRITTEN_MS)
      const running: Replay = { nodes: [target, ...newcomers], ended, stoodMs: 0 }
      replays.set(attack, running)
      await Promise.all([
        ...newcomers.map((newcomer) => watch(attack, newcomer, running)),
        ...newcomers.map((newcomer, at) => replay(attack, newcomer, at, ended)),
        together(FLOODERS, () =>
          overAndOver(attack, async () => {
            await bring(attack, target, own)
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
      const unequal = await whyUnequal(nodes)
      if (unequal !== undefined) return unequal
      const live = await Promise.all(nodes.map((node) => liveAt(node, ended)))
      return live.some((each) => each > 0) ? 'ended entries are held by all' : undefined
    },
  },
]
