/** Attacks on the VPN's control channel and on the probes that look for paths over UDP. */
import { randomBytes } from 'node:crypto'
import type { KeyedEntry } from '@mesh/ledger'
import { dialTarget, openStream, overAndOver, together } from '../attackers.ts'
import { exchangeKeys, openControl, pathsOf, VPN } from '../control-channel.ts'
import { gzippedBlock, signEntry } from '../gossip.ts'
import { beMember, type Reached } from '../membership.ts'
import { packetsToStrangers, strangerAddress } from '../namespace.ts'
import { createLiar } from '../probes.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice } from '../voice.ts'

/** What all attacks here have in common. */
const BASE = {
  who: 'member',
  legacy: { meaningless: 'no control channel' },
  isApart: true,
  hasVpn: true,
  needs: ['--address=10.1.0.1/24'],
} as const
/** Keys that exchange keys at a time, and those that only open channels: three each, as many as a peer may. */
const [EXCHANGERS, SILENT, CHANNELS] = [12, 110, 3]
/** How long a newcomer may take to exchange keys, in ms. */
const NEWCOMER_MS = 10_000
/** Keys that name strangers as themselves, and how many strangers there are. */
const [NAMERS, STRANGERS] = [40, 250]
const LIARS = 8
/** How long after each other many keys connect, in ms: what connections cost is another attack. */
const APART_MS = 20
/** Keys without a machine that send packets, and what fits unread into a stream. */
const [PACKERS, WINDOW_BYTES] = [200, 256 * 1024]
const PACKETS = { mesh: '/mesh/packets/1', legacy: '/edgevpn/0.1' } as const

/** Tells the addresses of hostile machines apart. */
let machines = 0

/** Connects a fresh key that says to speak the VPN's protocol, and answers nothing on it. */
async function connectVpnMember(attack: Attack, from?: string): Promise<Reached & { heart: KeyedEntry[] }> {
  const { target, signal, tally } = attack
  const { seed, signer } = createMember()
  const peer = await attack.peer({ seed, ...(from !== undefined && { from }) })
  await peer.handle(VPN, () => tally.count('channels of the victim'))
  const reached = { connection: await dialTarget(peer, target, signal), self: peer.peerId }
  await beMember(attack, reached)
  machines = (machines + 1) % 240
  const address = `10.1.0.${10 + machines}`
  const record = { PeerID: signer.peerId, Address: address, Hostname: 'hostile' }
  return { ...reached, heart: [heartbeatOf(signer), signEntry(signer, ['machines', address, record])] }
}

/** Members with machines in the ledger, so that the victim looks for paths to them; each does `then` over and over. */
async function withMachines(attack: Attack, count: number, then: (member: Reached) => Promise<void>) {
  const voice = await openVoice(attack)
  await together(count, () =>
    overAndOver(attack, async () => {
      const member = await connectVpnMember(attack)
      await voice.say(gzippedBlock(member.heart))
      while (member.connection.status === 'open' && !attack.signal.aborted) await then(member)
    }),
  )
}

export const VPN_ATTACKS: readonly Scenario[] = [
  {
    ...BASE,
    name: 'control-exchanges',
    does: `${EXCHANGERS} keys open control channels, exchange keys of WireGuard there, and close them, without pause`,
    boundedBy: 'the loop budget',
    aim: 'exchanges',
    async run(attack) {
      const { signal, tally } = attack
      await together(EXCHANGERS, () =>
        overAndOver(attack, async () => {
          const member = await connectVpnMember(attack)
          while (member.connection.status === 'open' && !signal.aborted) {
            const { stream } = await exchangeKeys(member, signal)
            tally.count('exchanges')
            stream.abort(new Error('and again'))
          }
        }),
      )
    },
  },
  {
    ...BASE,
    name: 'silent-channels',
    does: `${SILENT} keys open ${CHANNELS} control channels each and say nothing there; then a newcomer wants to exchange keys`,
    boundedBy: 'SERVED_EXCHANGES',
    aim: 'channels',
    async run(attack) {
      const { signal, tally } = attack
      await together(SILENT, async (at) => {
        await pause(at * APART_MS, signal)
        await overAndOver(attack, async () => {
          const member = await connectVpnMember(attack)
          while (member.connection.status === 'open' && !signal.aborted) {
            const streams = await Promise.all(
              Array.from({ length: CHANNELS }, () => openControl(member, signal)),
            )
            tally.count('channels', CHANNELS)
            while (streams.some(({ status }) => status === 'open') && !signal.aborted) await pause(50, signal)
          }
        })
      })
    },
    async reached(attack) {
      const newcomer = await connectVpnMember(attack, '127.0.0.9')
      const signal = AbortSignal.timeout(NEWCOMER_MS)
      for (;;) {
        const isDone = await exchangeKeys(newcomer, signal).then(
          () => true,
          () => false,
        )
        if (isDone) return undefined
        if (signal.aborted) return `a newcomer exchanged no keys within ${NEWCOMER_MS / 1000} s`
        await pause(100)
      }
    },
  },
  {
    ...BASE,
    name: 'named-strangers',
    does: `${NAMERS} keys with machines name ${STRANGERS} strangers as themselves, others in each message, without pause`,
    boundedBy: 'UNPROVEN_PROBES, the loop budget',
    aim: 'messages',
    async run(attack) {
      const { signal, tally } = attack
      const before = packetsToStrangers()
      await withMachines(attack, NAMERS, async (member) => {
        const { stream, sendPaths } = await exchangeKeys(member, signal)
        const token = randomBytes(8)
        for (let sent = 0; sent < 57 && stream.status === 'open' && !signal.aborted; sent++) {
          const candidates = Array.from({ length: 16 }, (_, n) => ({
            address: strangerAddress((sent * 16 + n) % STRANGERS),
            port: 1_024 + ((sent * 977 + n) % 60_000),
          }))
          sendPaths(pathsOf({ secret: randomBytes(32), token, candidates }))
          tally.count('messages')
          await pause(5, signal)
        }
        stream.abort(new Error('and again'))
      })
      tally.count('packets to strangers', packetsToStrangers() - before)
    },
  },
  {
    ...BASE,
    name: 'false-answers',
    does: `${LIARS} keys with machines answer each probe, and say that it came from another stranger each time; they probe from 32 ports each as fast as they can, with numbers as great as can be`,
    boundedBy: 'ANSWERS, UNPROVEN_ANSWERS, MAX_PATHS, the loop budget',
    aim: 'probes',
    async run(attack) {
      const { signal } = attack
      await withMachines(attack, LIARS, async (member) => {
        const control = await exchangeKeys(member, signal)
        await using liar = await createLiar({ attack, member, control })
        await liar.untilOver()
      })
    },
  },
  {
    ...BASE,
    name: 'early-packets',
    legacy: { hasVpn: true },
    does: `${PACKERS} keys that have no machine fill streams of packets, which wait unread for it, and open the next when one is ended`,
    boundedBy: 'MAX_HELD_STREAMS, MAX_HELD_STREAMS_OF_ADDRESS, STREAM_HELD_MS',
    aim: 'streams',
    async run(attack) {
      const { signal, tally } = attack
      await together(PACKERS, async (at) => {
        await pause(at * APART_MS, signal)
        await overAndOver(attack, async () => {
          const member = await connectVpnMember(attack)
          while (member.connection.status === 'open' && !signal.aborted) {
            const stream = await openStream(member.connection, PACKETS[attack.target.kind], signal)
            tally.count('streams')
            stream.send(Buffer.alloc(WINDOW_BYTES))
            while (stream.status === 'open' && !signal.aborted) await pause(100, signal)
          }
        })
      })
    },
  },
]
