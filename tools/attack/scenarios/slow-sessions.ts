/** Attacks on a node that asks others for what it lacks: whom it asks answers, but a little now and then. */
import { randomBytes } from 'node:crypto'
import type { Stream } from '@libp2p/interface'
import { dialTarget, framed, onFrames, openStream, overAndOver, sendAll, together } from '../attackers.ts'
import { proveMembership, type Reached } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { greeting, rangeField } from '../sync-message.ts'
import { pause, untilTrue } from '../until-true.ts'

const REPLICATION = '/mesh/replication/1'
const SPEAKERS = 40
/** How long the speakers let the victim wait for each message, in ms. */
const SILENT_MS = 2_000
/** How long the victim may take to have begun a session with each of the speakers, in ms. */
const READY_MS = 60_000
/** How long a newcomer may have to wait until it is asked and answered, in ms. */
const NEWCOMER_MS = 10_000

/** Says of the whole ledger that it differs, over and over. */
function speakSlowly({ signal, tally }: Attack, stream: Stream): void {
  let hasGreeted = stream.direction === 'outbound'
  onFrames(stream, () => {
    tally.count('answers')
    const message = Buffer.concat([
      ...(hasGreeted ? [] : [greeting(20_000)]),
      rangeField(undefined, undefined, 20_000),
    ])
    hasGreeted = true
    void pause(SILENT_MS, signal).then(() => sendAll(stream, framed(message), signal))
  })
}

/** A member that does something with each session that the victim opens with it. */
async function join(attack: Attack, from: string, onSession: (stream: Stream) => void): Promise<Reached> {
  const { target, signal, config } = attack
  const peer = await attack.peer({ seed: Uint8Array.from(randomBytes(32)), from })
  await peer.handle(REPLICATION, onSession)
  const reached = { connection: await dialTarget(peer, target, signal), self: peer.peerId }
  await proveMembership(reached, config, signal)
  return reached
}

/** Answers the victim's sessions slowly, and holds one of its own open as slowly. */
async function holdSessions(attack: Attack, at: number): Promise<void> {
  const { signal, tally } = attack
  const { connection } = await join(attack, `127.0.2.${1 + (at % 8)}`, (stream) => {
    tally.count('sessions')
    speakSlowly(attack, stream)
  })
  while (connection.status === 'open' && !signal.aborted) {
    const stream = await openStream(connection, REPLICATION, signal)
    speakSlowly(attack, stream)
    await sendAll(stream, framed(greeting(20_000)), signal)
    while (stream.status === 'open' && !signal.aborted) await pause(100, signal)
    await pause(1_000, signal)
  }
}

/** A newcomer that waits to be asked, and asks. */
async function comeAnew(attack: Attack): Promise<void> {
  const { signal, tally } = attack
  let isAsked = false
  let isAnswered = false
  const { connection } = await join(attack, '127.0.3.1', () => void (isAsked = true))
  const stream = await openStream(connection, REPLICATION, signal)
  onFrames(stream, () => void (isAnswered = true))
  await sendAll(stream, framed(greeting(20_000)), signal)
  const began = performance.now()
  try {
    await untilTrue(NEWCOMER_MS, async () => signal.aborted || (isAsked && isAnswered))
    if (signal.aborted) return
    tally.count('newcomers')
    tally.count('ms that newcomers waited', performance.now() - began)
  } catch {
    tally.count(isAsked ? 'newcomers not answered' : 'newcomers not asked')
  }
  await connection.close()
}

export const SLOW_SESSION_ATTACKS: readonly Scenario[] = [
  {
    name: 'slow-sessions',
    who: 'member',
    does: `${SPEAKERS} keys from 8 addresses keep the victim waiting for each message of the sessions that it opens with them, and of one of their own; others come that want to be asked, and answered`,
    boundedBy: 'SLOW_SESSION_MS, MAX_SLOW_OWN_SESSIONS, STALE_SESSION_MS, MAX_OWN_SESSIONS, SESSIONS',
    legacy: { meaningless: 'no sessions: whole ledgers by gossip' },
    aim: 'sessions',
    isApart: true,
    async prepare(attack) {
      void together(SPEAKERS, (at) => overAndOver(attack, () => holdSessions(attack, at)))
      // each was asked before the first newcomer, who would wait for them otherwise
      await untilTrue(READY_MS, async () => attack.tally.of('sessions') >= SPEAKERS)
    },
    async run(attack) {
      while (!attack.signal.aborted) {
        await comeAnew(attack)
        await pause(500, attack.signal)
      }
    },
    async reached({ tally }) {
      const failed = tally.of('newcomers not asked') + tally.of('newcomers not answered')
      const came = tally.of('newcomers')
      return failed > 0 || came === 0
        ? `${came} of ${came + failed} newcomers were asked and answered`
        : undefined
    },
  },
]
