/** Attacks that break off: streams and connections of every protocol that end at any moment and in every way. */
import { randomBytes, randomInt } from 'node:crypto'
import type { Identify } from '@libp2p/identify'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { encodeBlock } from '@mesh/ledger'
import { dialTarget, framed, openStream, overAndOver, together } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { connectUser, createEndless, listen, SERVICE, serviceRequest, STREAM } from './services.ts'

const PORT = 47_946
const CONNECTIONS = 12
/** How many streams a connection opens at most before it ends itself. */
const STREAMS = 40

interface Interrupted {
  readonly connection: Connection
  readonly protocols: readonly string[]
  /** A request to the victim's service that it grants. */
  readonly request?: Uint8Array
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
  { connection, protocols, request }: Interrupted,
): Promise<void> {
  const { signal, tally } = attack
  const isService = request !== undefined && randomInt(3) === 0
  const stream = await openStream(connection, isService ? SERVICE : oneOf(protocols), signal)
  tally.count('streams')
  if (randomInt(2) === 0) stream.addEventListener('message', () => {})
  if (isService) stream.send(request)
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

async function protocolsOf(peer: Libp2p, connection: Connection): Promise<readonly string[]> {
  const { identify } = peer.services as unknown as { readonly identify: Identify }
  return (await identify.identify(connection)).protocols
}

export const INTERRUPTION_ATTACKS: readonly Scenario[] = [
  {
    name: 'stranger-interruptions',
    who: 'stranger',
    does: `streams of every protocol with something or nothing in them, which end in every way at any moment, and so do their ${CONNECTIONS} connections`,
    boundedBy:
      'MAX_UNPROVEN_STREAMS, UNPROVEN_STREAMS_PER_S; what is sent to a connection that closes is left unsaid',
    appliesToLegacy: true,
    aim: 'streams',
    run: (attack) =>
      together(CONNECTIONS, () =>
        overAndOver(attack, async () => {
          const peer = await attack.peer()
          const connection = await dialTarget(peer, attack.target, attack.signal)
          await breakOff(attack, { connection, protocols: await protocolsOf(peer, connection) })
          await peer.stop()
        }),
      ),
  },
  {
    name: 'member-interruptions',
    who: 'member',
    does: `the same from ${CONNECTIONS} keys that prove themselves, and in the middle of a service that sends for ever`,
    boundedBy:
      'MAX_SERVED_CONNECTIONS, MAX_UNREAD_BYTES; what is sent to a connection that closes is left unsaid',
    appliesToLegacy: false,
    aim: 'streams',
    needs: [`--service-add=interrupted=127.0.0.1:${PORT}`],
    async run(attack) {
      await listen(attack, { port: PORT }, createEndless(attack))
      await together(CONNECTIONS, () =>
        overAndOver(attack, async () => {
          const { peer, connection, entries, prove } = await connectUser(attack, `127.0.0.${randomInt(2, 6)}`)
          const protocols = await protocolsOf(peer, connection)
          await prove()
          const request = serviceRequest('interrupted', STREAM, encodeBlock(entries))
          await breakOff(attack, { connection, protocols, request })
          await peer.stop()
        }),
      )
    },
  },
]
