/** An attack on a third party: members have a node dial one host for peers that there are not. */
import { createServer } from 'node:net'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { framed, openStream, overAndOver, sendAll, together } from '../attackers.ts'
import { connectMember } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { comeAndLeave, field, freshKey, PEERS, recordOf } from './discovery.ts'

const HOST = '127.77.0.1'
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
    const { connection } = await connectMember(attack, from)
    const stream = await openStream(connection, PEERS, signal)
    for (let at = 0; !signal.aborted && stream.status === 'open'; at += RECORDS) {
      const told = await Promise.all(
        Array.from(
          { length: RECORDS },
          async (_, n) => await recordOf(await freshKey(), homeAt(ports, at + n)),
        ),
      )
      const message = Buffer.concat(told.map((record) => field(1, record)))
      if (await sendAll(stream, framed(message), signal)) tally.count('peers told of', told.length)
      await pause(500, signal)
    }
  })
}

/** Members that went are looked for where they said that they are: at the third host. */
async function come(attack: Attack, ports: readonly number[]): Promise<void> {
  let at = 0
  await overAndOver(attack, () => comeAndLeave(attack, homeAt(ports, at++)))
}

export const ONE_HOST_ATTACKS: readonly Scenario[] = [
  {
    name: 'one-host',
    who: 'member',
    does: `${TELLERS} keys from as many addresses tell of ${RECORDS} peers in each message that are nowhere, all at one third host, and keys come, say that they are there, and leave, ${HOMES} at a time`,
    boundedBy: 'MAX_DIALS_OF_UNKNOWN_HOST, FREE_HOST_FAILURES, HOST_REST_MAX_MS, MAX_VAIN_DIALS_PER_MINUTE',
    appliesToLegacy: false,
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
    async reached({ tally }) {
      const dials = tally.of(DIALS)
      return dials > MAX_DIALS ? `it connected ${dials} times to the third host` : undefined
    },
  },
]
