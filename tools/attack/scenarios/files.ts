/** Attacks on what a node shares: receivers by the dozen that read nothing, ask for lists over and over, or have files hashed. */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection, Stream } from '@libp2p/interface'
import { encodeBlock } from '@mesh/ledger'
import { framed, onFrames, openStream, overAndOver, together, varint } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { connectLegacyUser, connectUser, stopReading } from './services.ts'

const FILE = { mesh: '/mesh/file/1', legacy: '/edgevpn/file/0.1' } as const
const KEYS = 8
/** As many as one key may have. */
const RECEIVERS = 8
const FILES = 20_000
const LARGE_BYTES = 2 ** 30

/** Where what is shared lies; it is made once, and left for the next time. */
const FOLDER = join(tmpdir(), 'mesh-attack-shares')

function shareFolder(): string {
  const folder = join(FOLDER, 'many')
  mkdirSync(folder, { recursive: true })
  for (let at = 0; at < FILES; at++) writeFileSync(join(folder, `one of very many files ${at}`), '')
  return folder
}

/** A file without a byte on the disk. */
export function shareLarge(): string {
  mkdirSync(FOLDER, { recursive: true })
  const path = join(FOLDER, 'large')
  writeFileSync(path, '')
  truncateSync(path, LARGE_BYTES)
  return path
}

const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
const numberField = (number: number, value: number) => Buffer.concat([varint(number << 3), varint(value)])

/** Messages of receivers, as `docs/PROTOCOLS.md` has them. */
const request = (name: string, entries: Uint8Array) =>
  framed(field(1, Buffer.concat([field(1, Buffer.from(name)), field(2, entries)])))
const want = (offset: number) =>
  framed(
    field(
      5,
      Buffer.concat([
        numberField(1, 0),
        numberField(2, offset),
        field(3, Buffer.alloc(offset === 0 ? 0 : 32)),
      ]),
    ),
  )

type Receive = (stream: Stream, entries: Uint8Array, connection: Connection) => Promise<void>

/** Connects a fresh key that may receive, and gives the block of entries that says so; a legacy node has heard of them. */
async function connectReceiver(attack: Attack, from: string) {
  if (attack.target.kind === 'legacy')
    return { ...(await connectLegacyUser(attack, from)), block: Buffer.alloc(0) }
  const { connection, entries, prove } = await connectUser(attack, from)
  await prove()
  return { connection, block: encodeBlock(entries) }
}

/** Calls `receive` with as many streams as each of the keys may have, each anew when it ends. */
function receiveOnAll(attack: Attack, receive: Receive): Promise<void> {
  const { signal } = attack
  return together(KEYS, (at) =>
    overAndOver(attack, async () => {
      const { connection, block } = await connectReceiver(attack, `127.0.0.${2 + (at % 2)}`)
      await together(RECEIVERS, async () => {
        while (!signal.aborted && connection.status === 'open') {
          await receive(await openStream(connection, FILE[attack.target.kind], signal), block, connection)
          await pause(20, signal)
        }
      })
    }),
  )
}

async function untilOver(stream: Stream, signal: AbortSignal): Promise<void> {
  while (!signal.aborted && stream.status === 'open') await pause(50, signal)
}

export const FILE_ATTACKS: readonly Scenario[] = [
  {
    name: 'file-readers',
    who: 'member',
    does: `${KEYS} keys ask ${RECEIVERS} times each, from two addresses, for a file of 1 GiB, and read nothing of it`,
    boundedBy: 'FEW_BLOCKS_PER_CALL, RECEIVERS, IDLE_RECEIVER_MS',
    get legacy() {
      return { command: ['file-send'], flags: ['--name=large', `--path=${shareLarge()}`] }
    },
    aim: 'files asked for',
    hasLongBeginning: true,
    get needs() {
      return [`--file-send=large=${shareLarge()}`]
    },
    async run(attack) {
      const { signal, tally } = attack
      await receiveOnAll(attack, async (stream, entries, connection) => {
        // a legacy node sends its one file to who opens a stream
        if (attack.target.kind === 'mesh') stream.send(Buffer.concat([request('large', entries), want(0)]))
        tally.count('files asked for')
        await pause(100, signal)
        stopReading(connection)
        await untilOver(stream, signal)
      })
    },
  },
  {
    name: 'file-lists',
    who: 'member',
    does: `${KEYS} keys ask ${RECEIVERS} times each, from two addresses, for a folder of ${FILES} files, take the list, and ask anew`,
    boundedBy: 'one list at a time, and one in memory; the loop budget, STATS_AT_A_TIME',
    legacy: { meaningless: 'one file, and no list' },
    aim: 'lists',
    get needs() {
      return [`--file-send=many=${shareFolder()}`]
    },
    async run(attack) {
      const { signal, tally } = attack
      await receiveOnAll(attack, async (stream, entries) => {
        let messages = 0
        onFrames(stream, () => {
          if (messages++ === 1) tally.count('lists')
          // all but the end of the list
          if (messages === 20) stream.abort(new Error('enough'))
        })
        stream.send(request('many', entries))
        tally.count('lists asked for')
        await untilOver(stream, signal)
      })
    },
  },
  {
    name: 'file-hashes',
    who: 'member',
    does: `${KEYS} keys say ${RECEIVERS} times each, from two addresses, that they hold all of a file of 1 GiB, which the node hashes, and ask anew`,
    boundedBy: 'the loop budget, RECEIVERS',
    legacy: { meaningless: 'hashes nothing' },
    aim: 'hashes asked for',
    get needs() {
      return [`--file-send=large=${shareLarge()}`]
    },
    async run(attack) {
      const { signal, tally } = attack
      await receiveOnAll(attack, async (stream, entries) => {
        stream.addEventListener('message', () => {})
        stream.send(request('large', entries))
        stream.send(want(LARGE_BYTES))
        tally.count('hashes asked for')
        await untilOver(stream, signal)
      })
    },
  },
]
