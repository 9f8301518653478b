/** Attacks on the table of connections. */
import type { Scenario } from '../scenario.ts'
import { dialTarget } from '../attackers.ts'
import { proveMembership } from '../membership.ts'
import { pause } from '../until-true.ts'

const STRANGERS = 40

/** Holds a connection as long as it lasts, and comes back at once. */
async function comeBack(
  signal: AbortSignal,
  connect: () => Promise<{ readonly status: string }>,
): Promise<number> {
  let times = 0
  while (!signal.aborted) {
    try {
      const connection = await connect()
      times++
      while (connection.status === 'open' && !signal.aborted) await pause(20, signal)
    } catch {
      await pause(20, signal)
    }
  }
  return times
}

const sum = (numbers: readonly number[]) => numbers.reduce((all, each) => all + each, 0)

export const CONNECTION_ATTACKS: readonly Scenario[] = [
  {
    name: 'stranger-connections',
    who: 'stranger',
    does: `${STRANGERS} strangers connect to a node with room for 12 and come back at once when it closes; then a member comes`,
    boundedBy: 'MAX_UNPROVEN_CONNECTIONS, --max-connections',
    appliesToLegacy: true,
    victimArgs: ['--max-connections=12'],
    honestComesLate: true,
    async run({ target, signal, peer }) {
      const strangers = await Promise.all(Array.from({ length: STRANGERS }, () => peer()))
      const times = await Promise.all(
        strangers.map((each) => comeBack(signal, () => dialTarget(each, target, signal))),
      )
      return `${sum(times)} connections`
    },
  },
  {
    name: 'fresh-strangers',
    who: 'stranger',
    does: 'strangers with a fresh key for each connection, from 8 addresses, against a node with room for 100',
    boundedBy: 'MAX_UNPROVEN_CONNECTIONS, MAX_PENDING_INBOUND',
    appliesToLegacy: true,
    victimArgs: ['--max-connections=100'],
    honestComesLate: true,
    async run({ target, signal, peer }) {
      const times = await Promise.all(
        Array.from({ length: 115 }, (_, at) => {
          const from = `127.0.0.${2 + (at % 8)}`
          return comeBack(signal, async () => await dialTarget(await peer({ from }), target, signal))
        }),
      )
      return `${sum(times)} connections`
    },
  },
  {
    name: 'member-connections',
    who: 'member',
    does: '40 keys of one member prove themselves to a node with room for 12, and come back; then another member comes',
    boundedBy: '--max-connections, LEAST_STAY_MS',
    appliesToLegacy: false,
    victimArgs: ['--max-connections=12'],
    honestComesLate: true,
    async run({ target, signal, peer, config }) {
      const sybils = await Promise.all(Array.from({ length: STRANGERS }, () => peer({ from: '127.0.0.9' })))
      const times = await Promise.all(
        sybils.map((each) =>
          comeBack(signal, async () => {
            const connection = await dialTarget(each, target, signal)
            await proveMembership({ connection, self: each.peerId }, config, signal)
            return connection
          }),
        ),
      )
      return `${sum(times)} connections`
    },
  },
]
