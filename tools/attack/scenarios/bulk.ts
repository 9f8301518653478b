/** Attacks on services over the TLS connections that carry bulk, by nodes of our own kind that read nothing, or fill each. */
import { rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { randomBytes } from 'node:crypto'
import { parsePeerId, silentLogger, systemClock, systemRandom } from '@mesh/core'
import { encodeBlock } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { createP2pNode } from '@mesh/p2p/node'
import { overAndOver, together } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause, untilTrue } from '../until-true.ts'
import {
  createDeaf,
  createEndless,
  listen,
  SERVICE,
  serviceRequest,
  STREAM,
  userEntries,
} from './services.ts'

/** How many keys there are, and how many streams each wants. */
const [KEYS, STREAMS] = [6, 400]
const PORT = 47_945
const UNREAD_PATH = join(tmpdir(), 'mesh-attack-unread-bulk.sock')
/** After how long a target that is not known well enough for bulk is told, in ms. */
const READY_MS = 20_000
const FILLING = Buffer.alloc(2 * 1024 * 1024)
const RULES = { from: 'proven', relayed: true, halfClose: true, bulk: true } as const

/** Opens streams to a service as long as some come over TLS connections, and keeps all of them. */
async function holdStreams(attack: Attack, name: string, fills: boolean): Promise<void> {
  const { signal, tally, target, config } = attack
  const seed = Uint8Array.from(randomBytes(32))
  const node = await createP2pNode(
    {
      network: config,
      identity: seed,
      listen: ['/ip4/127.0.0.1/tcp/0'],
      private: true,
      bootstrapPeers: [target.address],
      switches: { mdns: false, dht: false, ws: false, webrtcDirect: false, webrtc: false },
    },
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  try {
    const victim = parsePeerId(target.id)
    await untilReady(attack, () => node.speaks(victim, '/mesh/bulk/1') === true)
    const request = serviceRequest(name, STREAM, encodeBlock(userEntries(createNodeSigner(seed))))
    node.streams.prepare(victim)
    for (let opened = 0; opened < STREAMS && !signal.aborted; opened++) {
      const stream = await node.streams.open(victim, SERVICE, { ...RULES, signal })
      stream.onEnd(() => {})
      if (!fills) stream.pause()
      stream.onBytes(() => {})
      stream.send(request)
      if (fills) stream.send(FILLING)
      tally.count(stream.transport === 'tcp tls' ? 'bulk streams' : 'other streams')
    }
    while (!signal.aborted) await pause(200, signal)
  } finally {
    await node.stop()
  }
}

/** Waits for as long as the attack goes on: the node tries on by itself, and another one would have all handshakes before it. */
async function untilReady({ signal, tally }: Attack, isReady: () => boolean): Promise<void> {
  const isOver = async () => signal.aborted || isReady()
  while (!(await isOver())) await untilTrue(READY_MS, isOver).catch((error) => tally.missed(error, signal))
}

/** What both have in common. */
const BASE = {
  who: 'member',
  boundedBy: 'ACCEPTED, MUCH_UNSENT_BYTES, UNREAD_BYTES, SERVED_UNWRITTEN_BYTES',
  legacy: { meaningless: 'no TLS connections for bulk' },
  aim: 'bulk streams',
  hasLongBeginning: true,
} as const

export const BULK_ATTACKS: readonly Scenario[] = [
  {
    ...BASE,
    name: 'bulk-readers',
    does: `${KEYS} nodes want ${STREAMS} streams each to a service over TLS connections of their own, and read nothing of what it sends for ever`,
    needs: [`--service-add=endless-bulk=127.0.0.1:${PORT}`],
    async run(attack) {
      await listen(attack, { port: PORT }, createEndless(attack))
      await together(KEYS, () => overAndOver(attack, () => holdStreams(attack, 'endless-bulk', false)))
    },
  },
  {
    ...BASE,
    name: 'bulk-writers',
    does: `the same to a service whose target reads nothing; each fills its streams`,
    needs: [`--service-add=unread-bulk=unix://${UNREAD_PATH}`],
    async run(attack) {
      rmSync(UNREAD_PATH, { force: true })
      await listen(attack, { path: UNREAD_PATH }, createDeaf(attack))
      await together(KEYS, () => overAndOver(attack, () => holdStreams(attack, 'unread-bulk', true)))
    },
  },
]
