/** Attacks by networks that members say are behind them, and by addresses that they say are theirs. */
import { gzippedBlock, signEntry } from '../gossip.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { overAndOver, together } from '../attackers.ts'
import { pause } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice, sayEntries, untilHeld } from '../voice.ts'

/** Keys that say so, and how many networks each has. */
const [OWNERS, NETWORKS] = [4, 5_000]
const ROUTES = 'routes'
/** An address as a network, another one each time. @param at below 2^20 */
const networkAt = (at: number) => `172.${16 + (at >> 16)}.${(at >> 8) & 255}.${at & 255}/32`

/** Keys that have machines, and how many addresses of each all members keep. */
const [HOLDERS, ADDRESSES] = [250, 40]

type Member = ReturnType<typeof createMember>

const routeOf = ({ signer }: Member, at: number) =>
  signEntry(signer, [ROUTES, networkAt(at), { PeerID: signer.peerId, Metric: 0 }])

/** Says the networks of one key, which is alive, and waits until the victim holds them. */
async function advertise(attack: Attack, owner: number): Promise<void> {
  const member = createMember()
  const voice = await openVoice(attack)
  await voice.say(gzippedBlock([heartbeatOf(member.signer)]), member.seed)
  const first = owner * NETWORKS
  const entries = Array.from({ length: NETWORKS }, (_, at) => routeOf(member, first + at))
  await sayEntries(voice, member.seed, entries)
  await untilHeld(attack, ROUTES, encodeURIComponent(networkAt(first + NETWORKS - 1)))
}

/** Says the machines of one key, which is alive. */
async function claimAddresses(attack: Attack, holder: number): Promise<void> {
  const member = createMember()
  const { signer, seed } = member
  const voice = await openVoice(attack)
  const machines = Array.from({ length: ADDRESSES }, (_, at) => machineOf(member, holder * ADDRESSES + at))
  await voice.say(gzippedBlock([heartbeatOf(signer), ...machines]), seed)
}

const machineOf = ({ signer }: Member, at: number) =>
  signEntry(signer, [
    'machines',
    addressAt(at),
    { PeerID: signer.peerId, Address: addressAt(at), Hostname: 'x' },
  ])

const addressAt = (at: number) => `10.77.${at >> 8}.${at & 255}`

export const NETWORK_ATTACKS: readonly Scenario[] = [
  {
    name: 'many-routes',
    who: 'member',
    does: `${OWNERS} keys say that ${NETWORKS} networks are behind each, and one more ten times a second, so that a node with --accept-routes builds its table anew`,
    boundedBy: 'MAX_UNNAMED_ROUTES, of which members have turns; REBUILD_TIME_SHARE',
    legacy: { meaningless: 'no networks behind members' },
    isApart: true,
    hasVpn: true,
    needs: ['--address=10.1.0.1/24'],
    victimArgs: ['--accept-routes'],
    aim: 'tables',
    prepare: (attack) => together(OWNERS, (owner) => advertise(attack, owner)),
    run(attack) {
      const { tally, signal } = attack
      let at = OWNERS * NETWORKS
      return overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        const member = createMember()
        await voice.say(gzippedBlock([heartbeatOf(member.signer)]), member.seed)
        while (voice.isOpen()) {
          if (!(await voice.say(gzippedBlock([routeOf(member, at++)]), member.seed))) break
          tally.count('tables')
          await pause(100, signal)
        }
      })
    },
  },
  {
    name: 'many-addresses',
    who: 'member',
    does: `${HOLDERS} keys have ${ADDRESSES} addresses each, and another one comes ten times a second, at a node that leases its address and remembers those of others`,
    boundedBy: 'MAX_PAST_ADDRESSES_PER_PEER; addresses of the range alone',
    legacy: { meaningless: 'remembers no addresses of others' },
    isApart: true,
    hasVpn: true,
    aim: 'addresses',
    async prepare(attack) {
      await together(10, async (first) => {
        for (let holder = first; holder < HOLDERS; holder += 10) await claimAddresses(attack, holder)
      })
      await untilHeld(attack, 'machines', addressAt((HOLDERS - 1) * ADDRESSES))
    },
    run(attack) {
      const { tally, signal } = attack
      let at = HOLDERS * ADDRESSES
      return overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        while (voice.isOpen()) {
          const member = createMember()
          const block = gzippedBlock([heartbeatOf(member.signer), machineOf(member, at++)])
          if (!(await voice.say(block, member.seed))) break
          tally.count('addresses')
          await pause(100, signal)
        }
      })
    },
  },
]
