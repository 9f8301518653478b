/** Attacks on how two ledgers are compared. */
import type { Attack, Scenario } from '../scenario.ts'
import { framed, onFrames, openStream, overAndOver, sendAll, together } from '../attackers.ts'
import { connectMember } from '../membership.ts'
import { greeting, rangeField } from '../sync-message.ts'
import { pause } from '../until-true.ts'
import { fill, FILLED_ENTRIES } from '../voice.ts'

const REPLICATION = '/mesh/replication/1'
/** Peers that ask at the same time. */
const ASKERS = 4

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

export const SESSION_ATTACKS: readonly Scenario[] = [
  {
    name: 'overlapping-ranges',
    who: 'member',
    does: 'asks with 512 ranges that all are the whole ledger, of 5,000 entries, under a fresh key when it is cut off',
    boundedBy: 'ranges that overlap are refused; SESSIONS_TIME_SHARE, ALL_SESSIONS_PER_MINUTE',
    appliesToLegacy: false,
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
    boundedBy: 'MAX_RANGES_IN_MESSAGE, WALK_STEP_ENTRIES, SESSIONS_TIME_SHARE',
    appliesToLegacy: false,
    aim: 'answers',
    prepare: fill,
    run(attack) {
      const keys = Array.from({ length: FILLED_ENTRIES }, (_, n) => `k${n}`).toSorted()
      const places = Array.from({ length: 513 }, (_, n) => ({ bucket: 'filled', key: keys[n * 9] ?? '' }))
      const ranges = Array.from({ length: 512 }, (_, n) => rangeField(places[n], places[n + 1], 10_000))
      return askInTurns(attack, Buffer.concat(ranges))
    },
  },
]
