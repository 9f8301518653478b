/** An attack on a third party: members have a node dial one host for peers that there are not. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import type { Stream } from '@libp2p/interface'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { dialTarget, framed, onFrames, overAndOver, sendAll, together } from '../attackers.ts'
import { beMember } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { field, openTelling, toldOf } from '../telling.ts'
import { pause } from '../until-true.ts'
import { comeAndLeave, freshKey } from './discovery.ts'

const HOST = '127.77.0.1'
const DHT = { mesh: '/mesh/kad/1.0.0', legacy: '/ipfs/kad/1.0.0' } as const
const PING = '/ipfs/ping/1.0.0'
/** A bootstrap peer that there is not. */
const NOBODY = '/ip4/127.0.0.1/tcp/1/p2p/12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
/** Peers in each answer of the DHT: as many as it asks for. */
const ANSWERED = 20
const [PORTS, TELLERS, RECORDS, HOMES] = [16, 4, 16, 4]
/** Addresses of each peer. */
const ADDRESSES = 4
/** As many dials of one host as a node may make that has heard of nothing else for a minute. */
const MAX_DIALS = 40
const DIALS = 'connections at the third host'

/** The third party: half of its ports close each connection at once, the others say nothing. */
async function listen({ tally, signal }: Attack): Promise<readonly number[]> {
  return await Promise.all(
    Array.from({ length: PORTS }, async (_, at) => {
      const server = createServer((socket) => {
        tally.count(DIALS)
        socket.on('error', () => {})
        if (at % 2 === 0) socket.destroy()
        else signal.addEventListener('abort', () => socket.destroy(), { once: true })
      })
      await new Promise<void>((resolve) => server.listen(0, HOST, resolve))
      signal.addEventListener('abort', () => server.close(), { once: true })
      return (server.address() as { readonly port: number }).port
    }),
  )
}

/** Some of its ports, others each time. */
const homeAt = (ports: readonly number[], at: number): Multiaddr[] =>
  Array.from({ length: ADDRESSES }, (_, n) =>
    multiaddr(`/ip4/${HOST}/tcp/${ports[(at * ADDRESSES + n) % ports.length]}`),
  )

/** Tells of peers without end, over the exchange of peers. */
async function tell(attack: Attack, ports: readonly number[], from: string): Promise<void> {
  const { signal, tally } = attack
  await overAndOver(attack, async () => {
    const telling = await openTelling(attack, from)
    for (let at = 0; telling.isOpen(); at += RECORDS) {
      const told = await Promise.all(
        Array.from(
          { length: RECORDS },
          async (_, n) => await toldOf(await freshKey(), homeAt(ports, at + n)),
        ),
      )
      if (await telling.tell(told)) tally.count('peers told of', told.length)
      await pause(500, signal)
    }
  })
}

/** Members that went are looked for where they said that they are: at the third host. */
async function come(attack: Attack, ports: readonly number[]): Promise<void> {
  let at = 0
  await overAndOver(attack, () => comeAndLeave(attack, homeAt(ports, at++)))
}

/** The number of the field with a message's type, of the one with peers that are closer, and of that with providers. */
const [TYPE, CLOSER, PROVIDERS] = [1, 8, 9]
const GET_PROVIDERS = 3

/** Answers each question to the DHT with peers that there are not, at the third host. */
async function answerQuestions(attack: Attack, ports: readonly number[], from: string): Promise<void> {
  const { signal, tally, target } = attack
  await overAndOver(attack, async () => {
    // the DHT asks whom it can dial and who answers pings
    const peer = await attack.peer({ from, listen: `/ip4/${from}/tcp/0` })
    await peer.handle(PING, (stream: Stream) =>
      stream.addEventListener('message', ({ data }) => void stream.send(data)),
    )
    let told = 0
    await peer.handle(DHT[target.kind], (stream: Stream) => {
      onFrames(stream, (question) => {
        const infos = Array.from({ length: ANSWERED }, () => {
          const id = Buffer.concat([Uint8Array.of(0, 36, 8, 1, 18, 32), randomBytes(32)])
          const home = homeAt(ports, told++).map((address) => field(2, address.bytes))
          return Buffer.concat([field(1, id), ...home])
        })
        const [, type = 0] = question
        const kinds = type === GET_PROVIDERS ? [CLOSER, PROVIDERS] : [CLOSER]
        const answer = kinds.flatMap((kind) => infos.map((info) => field(kind, info)))
        tally.count('peers told of', infos.length)
        void sendAll(stream, framed(Buffer.concat([Uint8Array.of(TYPE << 3, type), ...answer])), signal)
      })
    })
    const connection = await dialTarget(peer, target, signal)
    await beMember(attack, { connection, self: peer.peerId })
    while (connection.status === 'open' && !signal.aborted) await pause(100, signal)
    await peer.stop()
  })
}

async function judge({ tally }: Attack): Promise<string | undefined> {
  const dials = tally.of(DIALS)
  return dials > MAX_DIALS ? `it connected ${dials} times to the third host` : undefined
}

export const ONE_HOST_ATTACKS: readonly Scenario[] = [
  {
    name: 'one-host',
    who: 'member',
    does: `${TELLERS} keys from as many addresses tell of ${RECORDS} peers in each message that are nowhere, all at one third host, and keys come, say that they are there, and leave, ${HOMES} at a time`,
    boundedBy: 'MAX_DIALS_OF_UNKNOWN_HOST, FREE_HOST_FAILURES, HOST_REST, MAX_VAIN_DIALS_PER_MINUTE',
    legacy: {},
    // other attacks name addresses of loopback, too
    isApart: true,
    aim: 'peers told of',
    async run(attack) {
      const ports = await listen(attack)
      await Promise.all([
        together(TELLERS, (at) => tell(attack, ports, `127.0.0.${2 + at}`)),
        together(HOMES, () => come(attack, ports)),
      ])
    },
    reached: judge,
  },
  {
    name: 'one-host-by-dht',
    who: 'member',
    does: `${TELLERS} keys from as many addresses answer each question to the DHT with ${ANSWERED} peers that are nowhere, all at one third host`,
    boundedBy: 'MAX_DIALS_OF_UNKNOWN_HOST, FREE_HOST_FAILURES, HOST_REST',
    legacy: {
      // nobody is known but who comes
      flags: ['--dht', '--discovery-interval=10', `--discovery-bootstrap-peers=${NOBODY}`],
    },
    isApart: true,
    victimArgs: ['--dht', '--no-peer-exchange', '--discovery-interval=10s'],
    aim: 'peers told of',
    async run(attack) {
      const ports = await listen(attack)
      await together(TELLERS, (at) => answerQuestions(attack, ports, `127.0.0.${2 + at}`))
    },
    reached: judge,
  },
]
