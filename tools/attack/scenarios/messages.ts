/** Attacks by the messages of own protocols: as small and as many as can be, or full of fields without content. */
import { encodeBlock } from '@mesh/ledger'
import { framed, openStream, overAndOver, sendAll, together, varint } from '../attackers.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { connectUser } from './services.ts'
import { shareLarge } from './files.ts'

const FILE = '/mesh/file/1'
/** What takes messages for as long as somebody sends them. */
const ENDLESS = ['/mesh/peers/1', '/mesh/bulk/1', '/mesh/replication/1', FILE]
/** Keys that send at a time, and the addresses from which they come. */
const [SENDERS, ADDRESSES] = [8, 2]
/** Messages without a byte, as many as a stream's first window has room for. */
const EMPTY = Buffer.alloc(256 * 1024)
/** The longest message of files. */
const FILE_MESSAGE_BYTES = 65_536

const bytesField = (number: number, bytes: Uint8Array) =>
  Buffer.concat([varint((number << 3) | 2), varint(bytes.length), bytes])
/** A message that is nothing but fields without content, of one kind. */
const emptyFields = (number: number) =>
  framed(Buffer.alloc(FILE_MESSAGE_BYTES - 16, Uint8Array.of((number << 3) | 2, 0)))
const BUSY = framed(bytesField(10, Uint8Array.of(8, 1)))
const [ENTRY, UNKNOWN] = [3, 15]

/** Opens streams of one protocol as a member, over and over, and sends on each until it ends. */
function sendOnStreams(
  attack: Attack,
  at: number,
  send: (stream: OpenStream) => Promise<void>,
): Promise<void> {
  const { signal } = attack
  return overAndOver(attack, async () => {
    const user = await connectUser(attack, `127.0.0.${2 + (at % ADDRESSES)}`)
    await user.prove()
    const block = encodeBlock(user.entries)
    while (user.connection.status === 'open' && !signal.aborted) {
      await send({ open: (protocol) => openStream(user.connection, protocol, signal), block })
      await pause(5, signal)
    }
  })
}

interface OpenStream {
  readonly open: (protocol: string) => ReturnType<typeof openStream>
  /** The entries by which the sender may use files and services. */
  readonly block: Uint8Array
}

export const CHANNEL_MESSAGE_ATTACKS: readonly Scenario[] = [
  {
    name: 'small-messages',
    who: 'member',
    does: `messages without a byte, ${EMPTY.length} in a window, on channels of every protocol of our own, from ${SENDERS} keys`,
    boundedBy: 'the loop budget',
    legacy: { meaningless: 'no messages of its own: bare bytes, or one request of HTTP' },
    aim: 'messages',
    async run(attack) {
      const { signal, tally } = attack
      await together(SENDERS, (at) =>
        sendOnStreams(attack, at, async ({ open }) => {
          await together(ENDLESS.length, async (n) => {
            const stream = await open(ENDLESS[n] ?? FILE)
            while (stream.status === 'open' && (await sendAll(stream, EMPTY, signal)))
              tally.count('messages', EMPTY.length)
          })
        }),
      )
    },
  },
  {
    name: 'file-messages',
    who: 'member',
    does: `${SENDERS} keys ask for a file and say for ever that they are busy, or send messages of 64 KiB with nothing but fields without content`,
    boundedBy: 'MAX_MESSAGE_FIELDS, BUSY_RATE, the loop budget',
    legacy: { meaningless: 'a receiver says nothing' },
    aim: 'messages',
    get needs() {
      return [`--file-send=large=${shareLarge()}`]
    },
    async run(attack) {
      const { signal, tally } = attack
      const kinds = [Buffer.alloc(65_535, BUSY), emptyFields(ENTRY), emptyFields(UNKNOWN)]
      const request = (block: Uint8Array) =>
        framed(bytesField(1, Buffer.concat([bytesField(1, Buffer.from('large')), bytesField(2, block)])))
      await together(SENDERS, (at) =>
        sendOnStreams(attack, at, ({ open, block }) =>
          together(kinds.length, async (n) => {
            const stream = await open(FILE)
            stream.addEventListener('message', () => {})
            if (n < 2) await sendAll(stream, request(block), signal)
            while (stream.status === 'open' && (await sendAll(stream, kinds[n] ?? EMPTY, signal)))
              tally.count('messages')
          }),
        ),
      )
    },
  },
]
