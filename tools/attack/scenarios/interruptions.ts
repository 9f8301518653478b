/** Attacks that break off: streams and connections of every protocol that end at any moment and in every way. */
import { randomBytes, randomInt } from 'node:crypto'
import type { Connection, Stream } from '@libp2p/interface'
import { dialTarget, framed, identifyOn, openStream, overAndOver, together } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { connectServed, createEndless, legacyService, listen, type Served } from './services.ts'

const PORT = 47_946
const CONNECTIONS = 12
/** How many streams a connection opens at most before it ends itself. */
const STREAMS = 40

interface Interrupted {
  readonly connection: Connection
  readonly protocols: readonly string[]
  /** The victim's service, where it grants one. */
  readonly service?: Served
}

/** What is sent in pieces: what belongs there in part, what does not, much, and nothing. */
const pieces: readonly (() => Uint8Array)[] = [
  () => randomBytes(randomInt(1, 2_000)),
  () => framed(randomBytes(randomInt(1, 500))),
  () => framed(new Uint8Array(0)),
  () => framed(randomBytes(200_000)).subarray(0, 150_000),
  () => new Uint8Array(0),
]

/** How a stream ends, or does not. */
const ends: readonly ((stream: Stream) => unknown)[] = [
  (stream) => stream.close(),
  (stream) => stream.closeRead(),
  (stream) => stream.abort(new Error('enough')),
  (stream) => stream.pause(),
  () => undefined,
]

const oneOf = <T>(choices: readonly T[]): T => choices[randomInt(choices.length)] as T

async function breakOffStream(
  attack: Attack,
  { connection, protocols, service }: Interrupted,
): Promise<void> {
  const { signal, tally } = attack
  const used = randomInt(3) === 0 ? service : undefined
  const stream = await openStream(connection, used?.protocol ?? oneOf(protocols), signal)
  tally.count('streams')
  if (randomInt(2) === 0) stream.addEventListener('message', () => {})
  if (used !== undefined) stream.send(used.request)
  for (let left = randomInt(4); left > 0 && stream.writeStatus === 'writable'; left--) {
    stream.send(oneOf(pieces)())
    if (randomInt(2) === 0) await pause(randomInt(30), signal)
  }
  await oneOf(ends)(stream)
}

async function breakOff(attack: Attack, interrupted: Interrupted): Promise<void> {
  const { signal, tally } = attack
  const { connection } = interrupted
  const streams = Array.from({ length: randomInt(1, STREAMS) }, async () => {
    await pause(randomInt(600), signal)
    // a stream that was refused, or whose connection another one ended, is one more that broke off
    await breakOffStream(attack, interrupted).catch(() => tally.count('refusals'))
  })
  // to close waits for what the victim sends for ever
  const stop = () => connection.abort(new Error('the attack is over'))
  signal.addEventListener('abort', stop, { once: true })
  await Promise.race([Promise.all(streams), pause(randomInt(800), signal)])
  if (randomInt(2) === 0) connection.abort(new Error('enough'))
  else await connection.close()
  await Promise.all(streams)
  signal.removeEventListener('abort', stop)
}

export const INTERRUPTION_ATTACKS: readonly Scenario[] = [
  {
    name: 'stranger-interruptions',
    who: 'stranger',
    does: `streams of every protocol with something or nothing in them, which end in every way at any moment, and so do their ${CONNECTIONS} connections`,
    boundedBy:
      'UNPROVEN_STREAMS, UNPROVEN_STREAM_RATE; what is sent to a connection that closes is left unsaid',
    legacy: {},
    aim: 'streams',
    run: (attack) =>
      together(CONNECTIONS, () =>
        overAndOver(attack, async () => {
          const peer = await attack.peer()
          const connection = await dialTarget(peer, attack.target, attack.signal)
          await breakOff(attack, { connection, protocols: (await identifyOn(peer, connection)).protocols })
          await peer.stop()
        }),
      ),
  },
  {
    name: 'member-interruptions',
    who: 'member',
    does: `the same from ${CONNECTIONS} keys that prove themselves, and in the middle of a service that sends for ever`,
    boundedBy: 'SERVED_CONNECTIONS, UNREAD_BYTES; what is sent to a connection that closes is left unsaid',
    legacy: legacyService('interrupted', PORT),
    aim: 'streams',
    needs: [`--service-add=interrupted=127.0.0.1:${PORT}`],
    async run(attack) {
      await listen(attack, { port: PORT }, createEndless(attack))
      await together(CONNECTIONS, () =>
        overAndOver(attack, async () => {
          const service = await connectServed(attack, `127.0.0.${randomInt(2, 6)}`, 'interrupted')
          const { peer, connection } = service
          const { protocols } = await identifyOn(peer, connection)
          await breakOff(attack, { connection, protocols, service })
          await peer.stop()
        }),
      )
    },
  },
]
