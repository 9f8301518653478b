/** Attacks on how two ledgers are compared. */
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, framed, onFrames, openStream, sendAll } from '../attackers.ts'
import { proveMembership } from '../membership.ts'
import { greeting, rangeField } from '../sync-message.ts'
import { pause } from '../until-true.ts'
import { fill, FILLED_ENTRIES } from '../voice.ts'

const REPLICATION = '/mesh/replication/1'
/** Peers that ask at the same time. */
const ASKERS = 4

/** What the askers of one attack came to. */
interface Asked {
  /** Sessions that were begun, and turns of them that the victim answered. */
  sessions: number
  turns: number
}

/** Speaks one side of sessions from several peers, in turns, until each is cut off; then again under a fresh key. */
async function askOverAndOver(attack: Attack, message: Uint8Array): Promise<string> {
  const asked: Asked = { sessions: 0, turns: 0 }
  await Promise.all(Array.from({ length: ASKERS }, () => askUntilOver(attack, message, asked)))
  return `${asked.sessions} sessions, ${asked.turns} answers`
}

async function askUntilOver(attack: Attack, message: Uint8Array, asked: Asked): Promise<void> {
  const { target, signal, config } = attack
  while (!signal.aborted) {
    try {
      const peer = await attack.peer()
      const connection = await dialTarget(peer, target, signal)
      await proveMembership({ connection, self: peer.peerId }, config, signal)
      while (connection.status === 'open' && !signal.aborted) {
        const stream = await openStream(connection, REPLICATION, signal)
        asked.sessions++
        onFrames(stream, () => {
          // whatever the answer is, the next question is the same
          asked.turns++
          void sendAll(stream, framed(message), signal)
        })
        await sendAll(stream, framed(greeting(20_000)), signal)
        while (stream.status === 'open' && !signal.aborted) await pause(50, signal)
        if (stream.status !== 'open') break
      }
    } catch {
      await pause(100, signal)
    }
  }
}

export const SESSION_ATTACKS: readonly Scenario[] = [
  {
    name: 'overlapping-ranges',
    who: 'member',
    does: 'asks with 512 ranges that all are the whole ledger, of 5,000 entries, under a fresh key when it is cut off',
    boundedBy: 'ranges that overlap are refused; SESSIONS_TIME_SHARE, ALL_SESSIONS_PER_MINUTE',
    appliesToLegacy: false,
    prepare: fill,
    run(attack) {
      const ranges = Array.from({ length: 512 }, () => rangeField(undefined, undefined, FILLED_ENTRIES))
      return askOverAndOver(attack, Buffer.concat(ranges))
    },
  },
  {
    name: 'turns-of-ranges',
    who: 'member',
    does: 'turns of 512 ranges in order over 5,000 entries, none of which fits, under a fresh key when it is cut off',
    boundedBy: 'MAX_RANGES_IN_MESSAGE, WALK_STEP_ENTRIES, SESSIONS_TIME_SHARE',
    appliesToLegacy: false,
    prepare: fill,
    run(attack) {
      const keys = Array.from({ length: FILLED_ENTRIES }, (_, n) => `k${n}`).toSorted()
      const places = Array.from({ length: 513 }, (_, n) => ({ bucket: 'filled', key: keys[n * 9] ?? '' }))
      const ranges = Array.from({ length: 512 }, (_, n) => rangeField(places[n], places[n + 1], 10_000))
      return askOverAndOver(attack, Buffer.concat(ranges))
    },
  },
]
