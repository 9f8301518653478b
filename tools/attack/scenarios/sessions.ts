/** Attacks on how two ledgers are compared. */
import { randomBytes } from 'node:crypto'
import type { Stream } from '@libp2p/interface'
import type { Attack, Scenario } from '../scenario.ts'
import { framed, onFrames, openStream, overAndOver, sendAll, together } from '../attackers.ts'
import { connectMember } from '../membership.ts'
import {
  emptyFields,
  entryField,
  greeting,
  listField,
  listsOfNothing,
  moreField,
  rangeField,
  refusedField,
  wantField,
} from '../sync-message.ts'
import { pause } from '../until-true.ts'
import { fill, FILLED_ENTRIES } from '../voice.ts'

const REPLICATION = '/mesh/replication/1'
/** Peers that ask at the same time. */
const ASKERS = 4
/** Peers that speak at the same time in sessions that are none. */
const SPEAKERS = 32
/** About as long as a message may be. */
const PACKED_BYTES = 384 * 1024 - 64

/** Speaks one side of sessions from several peers, in turns, until each is cut off; then again under a fresh key. */
async function askInTurns(attack: Attack, message: Uint8Array): Promise<void> {
  const { signal, tally } = attack
  await together(ASKERS, () =>
    overAndOver(
      attack,
      async () => {
        const { connection } = await connectMember(attack)
        while (connection.status === 'open' && !signal.aborted) {
          const stream = await openStream(connection, REPLICATION, signal)
          tally.count('sessions')
          onFrames(stream, () => {
            // whatever the answer is, the next question is the same
            tally.count('answers')
            void sendAll(stream, framed(message), signal)
          })
          await sendAll(stream, framed(greeting(20_000)), signal)
          while (stream.status === 'open' && !signal.aborted) await pause(50, signal)
          if (stream.status !== 'open') break
        }
      },
      100,
    ),
  )
}

/** What a session may bring out of its order, each kind as much as a message may hold. */
const UNASKED: readonly (() => Uint8Array)[] = [
  // answers to what was never asked
  () => Buffer.concat(placesOf(2_000).map((at) => entryField(at, 'nobody'))),
  () => Buffer.concat(placesOf(2_000).map(() => refusedField(randomBytes(16), 'constructor'))),
  // questions for what was never listed
  () => Buffer.concat(placesOf(4_000).map(wantField)),
  () => listField(placesOf(256)),
  // a beginning in the middle, and an end with more to come
  () => Buffer.concat([greeting(200_000), moreField()]),
  moreField,
  () => new Uint8Array(),
]

const placesOf = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ bucket: 'filled', key: `k${n}` })).toSorted((a, b) =>
    a.key < b.key ? -1 : 1,
  )

/** Messages of the greatest length that hold as many parts as they can, of each kind. */
const PACKED: readonly Uint8Array[] = [
  ...[2, 3, 4, 5, 6].map((kind) => emptyFields(kind, PACKED_BYTES)),
  listsOfNothing(PACKED_BYTES),
]

/** Begins one session after the other under fresh keys from all addresses; `speak` has the stream of each. */
function beginSessions(attack: Attack, speak: (stream: Stream, number: number) => Promise<void>) {
  const { signal, tally } = attack
  return together(SPEAKERS, (at) =>
    overAndOver(attack, async () => {
      const { connection } = await connectMember(attack, `127.0.2.${1 + (at % 8)}`)
      for (let number = at; connection.status === 'open' && !signal.aborted; number++) {
        const stream = await openStream(connection, REPLICATION, signal)
        tally.count('sessions')
        onFrames(stream, () => tally.count('answers'))
        await speak(stream, number)
      }
    }),
  )
}

/** Sends in each session what `parts` gives, two turns at a time. */
async function speakOutOfTurn(attack: Attack, parts: readonly (() => Uint8Array)[]): Promise<void> {
  const { signal, tally } = attack
  await beginSessions(attack, async (stream, number) => {
    await sendAll(stream, framed(greeting(20_000)), signal)
    for (let turn = number; stream.status === 'open' && !signal.aborted; turn += 2) {
      const two = [turn, turn + 1].map((each) => framed(parts[each % parts.length]?.() ?? new Uint8Array()))
      if (!(await sendAll(stream, Buffer.concat(two), signal))) break
      tally.count('turns', 2)
      await pause(5, signal)
    }
    if (stream.status === 'open') stream.abort(new Error('the attack is over'))
    await pause(5, signal)
  })
}

/** Goes on to some point of each session, and leaves it without a word or with a reset. */
async function leaveSessions(attack: Attack): Promise<void> {
  const { signal } = attack
  await beginSessions(attack, async (stream, number) => {
    if (number % 4 > 0) await sendAll(stream, framed(greeting(20_000)), signal)
    const whole = rangeField(undefined, undefined, FILLED_ENTRIES)
    if (number % 4 > 1) await sendAll(stream, framed(whole), signal)
    if (number % 4 > 2) await sendAll(stream, framed(whole).subarray(0, 20), signal)
    await pause(number % 3 === 0 ? 5 : 50, signal)
    if (number % 2 === 0) stream.abort(new Error('left'))
    else void stream.close().catch(() => {})
  })
}

export const SESSION_ATTACKS: readonly Scenario[] = [
  {
    name: 'overlapping-ranges',
    who: 'member',
    does: 'asks with 512 ranges that all are the whole ledger, of 5,000 entries, under a fresh key when it is cut off',
    boundedBy: 'ranges that overlap are refused; the loop budget, SESSION_RATES',
    legacy: { meaningless: 'no sessions: whole ledgers by gossip' },
    aim: 'answers',
    prepare: fill,
    run(attack) {
      const ranges = Array.from({ length: 512 }, () => rangeField(undefined, undefined, FILLED_ENTRIES))
      return askInTurns(attack, Buffer.concat(ranges))
    },
  },
  {
    name: 'turns-of-ranges',
    who: 'member',
    does: 'turns of 512 ranges in order over 5,000 entries, none of which fits, under a fresh key when it is cut off',
    boundedBy: 'MAX_RANGES_IN_MESSAGE, WALK_STEP_ENTRIES, the loop budget',
    legacy: { meaningless: 'no sessions: whole ledgers by gossip' },
    aim: 'answers',
    prepare: fill,
    run(attack) {
      const keys = Array.from({ length: FILLED_ENTRIES }, (_, n) => `k${n}`).toSorted()
      const places = Array.from({ length: 513 }, (_, n) => ({ bucket: 'filled', key: keys[n * 9] ?? '' }))
      const ranges = Array.from({ length: 512 }, (_, n) => rangeField(places[n], places[n + 1], 10_000))
      return askInTurns(attack, Buffer.concat(ranges))
    },
  },
  {
    name: 'unasked-replies',
    who: 'member',
    does: `${SPEAKERS} keys from 8 addresses send entries, refusals, wants and lists that nobody asked for, and beginnings and ends in the middle, two turns at a time`,
    boundedBy: 'SESSIONS, FAULT_PAUSE_MS, MAX_BAD_ENTRIES, the loop budget',
    legacy: { meaningless: 'no sessions: whole ledgers by gossip' },
    aim: 'turns',
    prepare: fill,
    run: (attack) => speakOutOfTurn(attack, UNASKED),
  },
  {
    name: 'packed-turns',
    who: 'member',
    does: `the same with messages of 384 KiB that hold nothing but empty ranges, lists, items, wants, entries and refusals`,
    boundedBy: 'MAX_MESSAGE_ITEMS, MAX_LIST_ITEMS, the loop budget, FAULT_PAUSE_MS',
    legacy: { meaningless: 'no sessions: whole ledgers by gossip' },
    aim: 'turns',
    prepare: fill,
    run(attack) {
      return speakOutOfTurn(
        attack,
        PACKED.map((message) => () => message),
      )
    },
  },
  {
    name: 'left-sessions',
    who: 'member',
    does: `${SPEAKERS} keys from 8 addresses begin sessions without pause and leave them: at once, after the greeting, after a question, and in the middle of one`,
    boundedBy: 'SESSION_RATES, SESSIONS',
    legacy: { meaningless: 'no sessions: whole ledgers by gossip' },
    aim: 'sessions',
    prepare: fill,
    run: leaveSessions,
  },
]
