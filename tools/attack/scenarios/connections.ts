/** Attacks on the table of connections. */
import type { Attack, LegacyVictim, Scenario } from '../scenario.ts'
import { dialTarget, overAndOver, together } from '../attackers.ts'
import { beMember } from '../membership.ts'
import { pause } from '../until-true.ts'

const STRANGERS = 40
const MANY = 400
const CONNECTIONS = 'connections'

/** A legacy node bounds its connections only where it is told to: some more than it is told. */
const legacyRoom = (connections: number): LegacyVictim => ({
  flags: ['--limit-enable', `--max-connections=${connections}`],
})

/** Holds a connection as long as it lasts, and comes back at once. */
async function comeBack(attack: Attack, connect: () => Promise<{ readonly status: string }>): Promise<void> {
  const { signal, tally } = attack
  await overAndOver(
    attack,
    async () => {
      const connection = await connect()
      tally.count(CONNECTIONS)
      while (connection.status === 'open' && !signal.aborted) await pause(20, signal)
    },
    20,
  )
}

export const CONNECTION_ATTACKS: readonly Scenario[] = [
  {
    name: 'stranger-connections',
    who: 'stranger',
    does: `${STRANGERS} strangers connect to a node with room for 12 and come back at once when it closes; then a member comes`,
    boundedBy: 'MAX_UNPROVEN_CONNECTIONS, --max-connections',
    legacy: legacyRoom(12),
    victimArgs: ['--max-connections=12'],
    honestComesLate: true,
    aim: CONNECTIONS,
    async run(attack) {
      const { target, signal } = attack
      await together(STRANGERS, async () => {
        const stranger = await attack.peer()
        await comeBack(attack, () => dialTarget(stranger, target, signal))
      })
    },
  },
  {
    name: 'fresh-strangers',
    who: 'stranger',
    does: 'strangers with a fresh key for each connection, from 8 addresses, against a node with room for 100',
    boundedBy: 'MAX_UNPROVEN_CONNECTIONS, PENDING_INBOUND',
    legacy: legacyRoom(100),
    victimArgs: ['--max-connections=100'],
    honestComesLate: true,
    aim: CONNECTIONS,
    async run(attack) {
      const { target, signal } = attack
      await together(115, async (at) => {
        const from = `127.0.0.${2 + (at % 8)}`
        await comeBack(attack, async () => await dialTarget(await attack.peer({ from }), target, signal))
      })
    },
  },
  {
    name: 'many-strangers',
    who: 'stranger',
    does: `${MANY} strangers from as many addresses, with room for 12, all at once, who come back when the connection closes; then a member comes`,
    boundedBy: 'the loop budget, ACCEPTING_SOCKETS, MAX_UNPROVEN_CONNECTIONS, PENDING_INBOUND',
    legacy: legacyRoom(12),
    victimArgs: ['--max-connections=12'],
    honestComesLate: true,
    aim: CONNECTIONS,
    async run(attack) {
      const { target, signal } = attack
      await together(MANY, async (at) => {
        const stranger = await attack.peer({ from: `127.0.${1 + Math.floor(at / 200)}.${1 + (at % 200)}` })
        await comeBack(attack, () => dialTarget(stranger, target, signal))
      })
    },
  },
  {
    name: 'member-connections',
    who: 'member',
    does: '40 keys of one member prove themselves to a node with room for 12, and come back; then another member comes',
    boundedBy: '--max-connections, LEAST_STAY_MS',
    legacy: legacyRoom(12),
    victimArgs: ['--max-connections=12'],
    honestComesLate: true,
    aim: CONNECTIONS,
    async run(attack) {
      const { target, signal } = attack
      await together(STRANGERS, async () => {
        const sybil = await attack.peer({ from: '127.0.0.9' })
        await comeBack(attack, async () => {
          const connection = await dialTarget(sybil, target, signal)
          await beMember(attack, { connection, self: sybil.peerId })
          return connection
        })
      })
    },
  },
]
