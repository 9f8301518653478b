/** Attacks on a network with administrators, by who has its token. */
import { randomBytes } from 'node:crypto'
import type { KeyedEntry, Signer } from '@mesh/ledger'
import { bringStatements, inviteClaim, inviteStatement, memberStatement } from '../administrators.ts'
import { dialTarget, openStream, overAndOver, sendAll, framed, together } from '../attackers.ts'
import { gzippedBlock, signEntry } from '../gossip.ts'
import { connectMember, proveMembership, type Reached } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { greeting } from '../sync-message.ts'
import { pause } from '../until-true.ts'
import { createMember, fill, heartbeatOf, openVoice, sayEntries, untilHeld } from '../voice.ts'

const BASE = {
  who: 'member',
  legacy: { meaningless: 'no administrators' },
  isApart: true,
  hasAdministrators: true,
} as const
/** Keys that nobody let in, and those that were shut out. */
const [OUTSIDERS, REVOKED] = [16, 16]
/** Invites whose codes the attacker has, and the keys that claim each. */
const [INVITES, CLAIMANTS] = [8, 4]
const PROVISIONAL = 20
/** Entries that each of those who are in by a claim writes. */
const WRITTEN = 1_000
const ADDRESSES = 8

const addressOf = (at: number) => `127.0.3.${1 + (at % ADDRESSES)}`

type Member = ReturnType<typeof createMember>

/** Lets the keys in that an attack has or once had. */
async function tell(attack: Attack, statements: readonly KeyedEntry[]): Promise<void> {
  await bringStatements(await connectMember(attack), statements, attack.signal)
}

/** Who gossips has to be let in: fills the ledger as such a member. */
async function fillAsMember(attack: Attack): Promise<void> {
  await fill(attack, letIn(attack))
}

/** Gives what an attack calls with each key that has to be in. */
function letIn(attack: Attack): (member: Member) => Promise<void> {
  return async ({ signer }) => {
    await tell(attack, [
      memberStatement(attack.config, adminOf(attack), { peer: signer.peerId, state: 'admitted' }),
    ])
  }
}

function adminOf({ administrator }: Attack): Signer {
  if (administrator === undefined) throw new Error('the network has no administrator')
  return administrator
}

async function connectAs(attack: Attack, { seed }: Member, at: number): Promise<Reached> {
  const { target, signal, config } = attack
  const peer = await attack.peer({ seed, from: addressOf(at) })
  const reached = { connection: await dialTarget(peer, target, signal), self: peer.peerId }
  await proveMembership(reached, config, signal)
  return reached
}

/** Statements whose signatures are none: an administrator's, and claims of invites that nobody made. */
function falseStatements({ config, administrator }: Attack, count: number): readonly KeyedEntry[] {
  const { signer } = createMember()
  const admin = administrator?.peerId ?? ''
  return Array.from({ length: count }, (_, at): KeyedEntry => {
    const peer = createMember().signer
    const keyed =
      at % 2 === 0
        ? memberStatement(config, { peerId: admin, sign: () => randomBytes(64) } as unknown as Signer, {
            peer: peer.peerId,
            state: at % 4 === 0 ? 'admitted' : 'revoked',
          })
        : inviteClaim(config, { invite: signer, peer })
    return keyed
  })
}

export const ADMINISTRATOR_ATTACKS: readonly Scenario[] = [
  {
    ...BASE,
    name: 'false-statements',
    does: `${OUTSIDERS} keys that nobody let in, from ${ADDRESSES} addresses, bring statements that no administrator signed and claims of invites that nobody made, in one exchange after the other`,
    boundedBy: 'EXCHANGE_RATES, the loop budget',
    aim: 'statements',
    async run(attack) {
      const { signal, tally } = attack
      const statements = falseStatements(attack, 2_048)
      await together(OUTSIDERS, (at) =>
        overAndOver(attack, async () => {
          const reached = await connectAs(attack, createMember(), at)
          while (reached.connection.status === 'open' && !signal.aborted)
            tally.count('statements', await bringStatements(reached, statements, signal))
        }),
      )
    },
  },
  {
    ...BASE,
    name: 'disputed-claims',
    does: `who has the codes of ${INVITES} invites claims each with ${CLAIMANTS} keys and ends the claims, in turn without pause: all are let in and out again`,
    boundedBy: 'EXCHANGE_RATES, the loop budget, MAX_CLAIMS_PER_INVITE, WITHDRAW_STEP_ENTRIES',
    aim: 'claims',
    prepare: fillAsMember,
    async run(attack) {
      const { config, signal, tally } = attack
      const invites = Array.from({ length: INVITES }, () => createMember().signer)
      await tell(
        attack,
        invites.map((invite) => inviteStatement(config, adminOf(attack), invite)),
      )
      await together(INVITES, (at) =>
        overAndOver(attack, async () => {
          const invite = invites[at]
          if (invite === undefined) return
          const claimants = Array.from({ length: CLAIMANTS }, createMember)
          const [first, ...others] = claimants
          if (first === undefined) return
          const reached = await connectAs(attack, first, at)
          while (reached.connection.status === 'open' && !signal.aborted) {
            const turns = Array.from({ length: 64 }, () => [
              inviteClaim(config, { invite, peer: first.signer }),
              ...others.map(({ signer }) => inviteClaim(config, { invite, peer: signer })),
              ...others.map(({ signer }) => inviteClaim(config, { invite, peer: signer, deleted: true })),
              inviteClaim(config, { invite, peer: first.signer, deleted: true }),
            ]).flat()
            tally.count('claims', await bringStatements(reached, turns, signal))
          }
        }),
      )
    },
  },
  {
    ...BASE,
    name: 'revoked-peers',
    does: `${REVOKED} peers that were in and have been shut out go on: they connect again without pause, and send gossip over connections of others`,
    boundedBy:
      'who is shut out may not connect, and its messages are refused by their author; MAX_INBOUND_PER_SECOND',
    aim: 'messages',
    async run(attack) {
      const { config, signal, tally } = attack
      const peers = Array.from({ length: REVOKED }, createMember)
      const say = (state: 'admitted' | 'revoked') =>
        peers.map(({ signer }) => memberStatement(config, adminOf(attack), { peer: signer.peerId, state }))
      await tell(attack, say('admitted'))
      await tell(attack, say('revoked'))
      const comeBack = (member: Member, at: number) =>
        overAndOver(attack, async () => {
          tally.count('connections')
          const reached = await connectAs(attack, member, at)
          for (const protocol of ['/mesh/replication/1', '/mesh/peers/1', '/mesh/file/1']) {
            const stream = await openStream(reached.connection, protocol, signal)
            if (await sendAll(stream, framed(greeting(1_000)), signal)) tally.count('streams')
          }
        })
      const goOn = ({ seed, signer }: Member, at: number) =>
        overAndOver(attack, async () => {
          const voice = await openVoice(attack)
          for (let n = 0; voice.isOpen(); n++) {
            const entries = [heartbeatOf(signer), signEntry(signer, ['revoked', `k${at}-${n}`, n])]
            if (await voice.say(gzippedBlock(entries), seed)) tally.count('messages')
            await pause(10, signal)
          }
        })
      await Promise.all(peers.flatMap((member, at) => [comeBack(member, at), goOn(member, at)]))
    },
    async reached({ target }) {
      const bucket = await fetch(`${target.url}/api/ledger/revoked`)
      const written = bucket.status === 200 ? Object.keys((await bucket.json()) as object).length : 0
      return written === 0 ? undefined : `${written} entries of peers that were shut out stand`
    },
  },
  {
    ...BASE,
    name: 'provisional-members',
    does: `${PROVISIONAL} keys that are in by a claim write ${WRITTEN} entries each, and dispute their own invites again: all of it is taken back, over and over`,
    boundedBy: 'MAX_WITHDRAWN_AT_ONCE, WITHDRAWAL_REST_MS, --ledger-max-signer-entries',
    aim: 'entries',
    async run(attack) {
      const { config, signal, tally } = attack
      await overAndOver(attack, async () => {
        const invites = Array.from({ length: PROVISIONAL }, () => createMember().signer)
        await tell(
          attack,
          invites.map((invite) => inviteStatement(config, adminOf(attack), invite)),
        )
        const claimants = invites.map((invite) => ({ invite, member: createMember() }))
        await tell(
          attack,
          claimants.map(({ invite, member }) => inviteClaim(config, { invite, peer: member.signer })),
        )
        const run = randomBytes(3).toString('hex')
        for (const [at, { member }] of claimants.entries()) {
          const entries = Array.from({ length: WRITTEN }, (_, n) =>
            signEntry(member.signer, [`provisional-${run}`, `k${at}-${n}`, n]),
          )
          tally.count('entries', await sayEntries(await openVoice(attack), member.seed, entries))
        }
        await untilHeld(attack, `provisional-${run}`, `k0-${WRITTEN - 1}`)
        const others = invites.map((invite) => inviteClaim(config, { invite, peer: createMember().signer }))
        await tell(attack, others)
        tally.count('disputes', others.length)
        await pause(500, signal)
      })
    },
  },
]
