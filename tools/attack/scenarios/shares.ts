/**
 * Attacks on what all others share: anyone who has a few addresses takes all of it, and keeps it. Then somebody comes from another
 * address, and wants a little.
 */
import { createServer, type Server } from 'node:net'
import type { Stream } from '@libp2p/interface'
import { dialTarget, framed, onFrames, openStream, overAndOver, sendAll, together } from '../attackers.ts'
import { connectMember } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { greeting } from '../sync-message.ts'
import { pause, untilTrue } from '../until-true.ts'
import { connectServed, legacyService, listen } from './services.ts'

const REPLICATION = '/mesh/replication/1'
const IDENTIFY = '/ipfs/id/1.0.0'
const HOP = '/libp2p/circuit/relay/0.2.0/hop'
/** Asks a relay for a reservation, and is in each answer that grants one: the status OK. */
const [RESERVE, GRANTED] = [Buffer.of(0x08, 0), Buffer.of(0x28, 100)]
/** As many as a relay grants at a time. */
const RESERVATIONS = 128
const SERVICE_PORT = 47_964
/** How an answer begins that says yes. */
const ACCEPTED = Buffer.of(8, 0)
/** How long a newcomer may have to wait until it is served, in ms. */
const NEWCOMER_MS = 5_000
/** How long those that hold all of it may take to have it, in ms. */
const READY_MS = 60_000
const HOLDERS = 6
const HELD_BY_EACH = 330
/** As many as all may have, but for a few that come and go. */
const HELD = 1_270

const holderAddress = (at: number, addresses: number) => `127.0.4.${1 + (at % addresses)}`

/** Has newcomers ask one after the other, each under a key and from an address of its own; `ask` gives whether it was served. */
async function comeAnew(attack: Attack, ask: (from: string) => Promise<boolean>): Promise<void> {
  const { signal, tally } = attack
  for (let at = 0; !signal.aborted; at++) {
    const from = `127.0.5.${1 + (at % 250)}`
    const began = performance.now()
    const isServed = await Promise.race([ask(from), pause(NEWCOMER_MS, signal).then(() => false)]).catch(
      (error: unknown) => {
        tally.missed(error, signal)
        return false
      },
    )
    if (signal.aborted) return
    tally.count(isServed ? 'newcomers served' : 'newcomers not served')
    if (isServed) tally.count('ms that they waited', performance.now() - began)
    await pause(300, signal)
  }
}

/** Why a newcomer was not served. */
async function whoWasLeft({ tally }: Attack): Promise<string | undefined> {
  const [served, left] = [tally.of('newcomers served'), tally.of('newcomers not served')]
  return left === 0 && served > 0 ? undefined : `${served} of ${served + left} newcomers were served`
}

/** Says nothing to who connects; that of a legacy node's service says in its place that it is there. */
function createSilent({ tally, target }: Attack): Server {
  return createServer((socket) => {
    tally.count('connections')
    if (target.kind === 'legacy') socket.write(framed(ACCEPTED))
    socket.on('error', () => {})
  })
}

/** Connects to a service and gives the first byte of the answer's message: 0 where it says yes. */
async function useService(attack: Attack, from: string): Promise<boolean> {
  const { connection, protocol, request } = await connectServed(attack, from, 'held')
  const answer = await askOnce(attack, await openStream(connection, protocol, attack.signal), request)
  void connection.close()
  return answer?.[1] === 0
}

async function holdService(attack: Attack, at: number): Promise<void> {
  const { signal, tally } = attack
  const { connection, protocol, request } = await connectServed(attack, holderAddress(at, 3), 'held')
  for (let opened = 0; opened < HELD_BY_EACH && !signal.aborted; opened += 10) {
    await together(10, async () => {
      const stream = await openStream(connection, protocol, signal)
      if (await sendAll(stream, request, signal)) tally.count('requests')
    })
  }
  while (!signal.aborted && connection.status === 'open') await pause(200, signal)
}

/** Opens streams of one protocol without pause from each of many addresses. */
async function openWithoutPause(attack: Attack, protocol: string, addresses: number): Promise<void> {
  const { signal, tally, target } = attack
  await together(2 * addresses, (at) =>
    overAndOver(
      attack,
      async () => {
        const peer = await attack.peer({ from: holderAddress(at, addresses) })
        const connection = await dialTarget(peer, target, signal)
        while (!signal.aborted && connection.status === 'open') {
          const stream = await openStream(connection, protocol, signal).catch(() => undefined)
          tally.count('streams')
          await pause(50, signal)
          stream?.abort(new Error('enough'))
        }
      },
      20,
    ),
  )
}

async function beginSession(attack: Attack, from: string): Promise<boolean> {
  const { connection } = await connectMember(attack, from)
  const stream = await openStream(connection, REPLICATION, attack.signal)
  const answer = await askOnce(attack, stream, framed(greeting(20_000)))
  void connection.close()
  return answer !== undefined
}

const BASE = { isApart: true, reached: whoWasLeft } as const

export const SHARE_ATTACKS: readonly Scenario[] = [
  {
    ...BASE,
    name: 'service-holders',
    who: 'member',
    legacy: legacyService('held', SERVICE_PORT),
    does: `${HOLDERS} keys from 3 addresses connect to a service ${HELD_BY_EACH} times each, and hold all of it; others want one connection`,
    boundedBy: 'SERVED_CONNECTIONS: of the address with the most one makes way',
    aim: 'newcomers served',
    needs: [`--service-add=held=127.0.0.1:${SERVICE_PORT}`],
    async prepare(attack) {
      await listen(attack, { port: SERVICE_PORT }, createSilent(attack))
      void together(HOLDERS, (at) => overAndOver(attack, () => holdService(attack, at)))
      await untilTrue(READY_MS, async () => attack.tally.of('connections') >= HELD)
    },
    run: (attack) => comeAnew(attack, (from) => useService(attack, from)),
  },
  {
    ...BASE,
    name: 'reservation-holders',
    who: 'member',
    legacy: { meaningless: 'relays only where the internet reaches it' },
    does: 'as many keys as a relay grants reservations take one each, from 3 addresses, and leave; others want one',
    boundedBy: 'those of peers that are gone make way, then one of the address with the most',
    aim: 'newcomers served',
    async prepare(attack) {
      let taken = 0
      await together(8, async () => {
        while (taken < RESERVATIONS && !attack.signal.aborted) {
          if (await reserve(attack, holderAddress(taken++, 3))) attack.tally.count('reservations')
        }
      })
    },
    run: (attack) => comeAnew(attack, (from) => reserve(attack, from)),
  },
  {
    legacy: {},
    isApart: true,
    name: 'many-identifies',
    who: 'stranger',
    does: 'asks from 24 addresses who the node is, on two connections each, without pause; then a member comes',
    boundedBy: 'IDENTIFIES',
    aim: 'streams',
    honestComesLate: true,
    run: (attack) => openWithoutPause(attack, IDENTIFY, 24),
  },
  {
    ...BASE,
    name: 'many-sessions',
    who: 'member',
    legacy: { meaningless: 'no sessions: whole ledgers by gossip' },
    does: '32 keys from 16 addresses begin sessions without pause, and leave them; others want one',
    boundedBy: 'SESSION_RATES',
    aim: 'newcomers served',
    async prepare(attack) {
      const { tally, signal } = attack
      void together(32, (at) =>
        overAndOver(
          attack,
          async () => {
            const { connection } = await connectMember(attack, holderAddress(at, 16))
            for (let left = 30; left > 0 && !signal.aborted && connection.status === 'open'; left--) {
              const stream = await openStream(connection, REPLICATION, signal)
              tally.count('sessions')
              await sendAll(stream, framed(greeting(20_000)), signal)
              await pause(20, signal)
              stream.abort(new Error('left'))
            }
            await connection.close()
          },
          10,
        ),
      )
      await untilTrue(READY_MS, async () => tally.of('sessions') >= 1_500)
    },
    run: (attack) => comeAnew(attack, (from) => beginSession(attack, from)),
  },
  {
    ...BASE,
    name: 'many-exchanges',
    who: 'member',
    legacy: { meaningless: 'no administrators' },
    does: '64 keys that nobody let in begin exchanges about who is in, from 32 addresses, without pause; others want one',
    boundedBy: 'EXCHANGE_RATES',
    aim: 'newcomers served',
    hasAdministrators: true,
    async prepare(attack) {
      const { tally, signal } = attack
      void together(64, (at) =>
        overAndOver(
          attack,
          async () => {
            const reached = await connectMember(attack, holderAddress(at, 32))
            for (let left = 16; left > 0 && !signal.aborted; left--) {
              tally.count('exchanges')
              if (await exchange(attack, reached)) tally.count('answers')
            }
            await reached.connection.close()
          },
          10,
        ),
      )
      await untilTrue(READY_MS, async () => tally.of('answers') >= 100)
    },
    run: (attack) =>
      comeAnew(attack, async (from) => {
        const reached = await connectMember(attack, from)
        const isServed = await exchange(attack, reached)
        void reached.connection.close()
        return isServed
      }),
  },
]

/** Asks for a reservation under a fresh key, and leaves; gives whether it was granted. */
async function reserve(attack: Attack, from: string): Promise<boolean> {
  const { connection } = await connectMember(attack, from)
  const answer = await askOnce(attack, await openStream(connection, HOP, attack.signal), framed(RESERVE))
  void connection.close()
  return answer !== undefined && Buffer.from(answer).includes(GRANTED)
}

/** Compares what both hold of who is in; gives whether the node said anything. */
async function exchange(attack: Attack, { connection }: Awaited<ReturnType<typeof connectMember>>) {
  const stream = await openStream(connection, '/mesh/trust/1', attack.signal)
  const digest = Buffer.concat([Buffer.of((3 << 3) | 2, 32), Buffer.alloc(32, 1)])
  return (await askOnce(attack, stream, framed(digest))) !== undefined
}

/** Sends one message, and gives the first one that comes; undefined when the stream ends without any. */
async function askOnce(attack: Attack, stream: Stream, message: Uint8Array) {
  return await new Promise<Uint8Array | undefined>((resolve) => {
    onFrames(stream, resolve)
    stream.addEventListener('close', () => resolve(undefined))
    // a stream that was refused may have ended before it is here
    if (stream.status !== 'open') resolve(undefined)
    else void sendAll(stream, message, attack.signal)
  })
}
