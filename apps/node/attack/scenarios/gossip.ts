/** Attacks by what is said on the gossip topic. */
import { randomBytes } from 'node:crypto'
import { gzipSync } from 'node:zlib'
import type { RPC } from '@libp2p/gossipsub/message'
import type { Scenario } from '../scenario.ts'
import { dialTarget, sendAll } from '../attackers.ts'
import {
  collectMessages,
  createAuthor,
  createSealing,
  gossipFrame,
  GOSSIP_PROTOCOL,
  gzippedBlock,
  openGossip,
  signEntry,
  signMessage,
} from '../gossip.ts'
import { pause, untilTrue } from '../until-true.ts'

const MB = 1024 * 1024

/** A block of about 60 MiB that gzip packs into about 160 KiB. */
function createBomb(): Uint8Array {
  const noise = randomBytes(100 * 1024).toString('base64')
  const padding = ' '.repeat(60 * MB)
  return gzipSync(
    `{"Index":0,"Timestamp":"","Storage":{"notes":{"a":{"Value":"${noise}"}${padding}}},"Hash":"","PrevHash":""}`,
  )
}

export const GOSSIP_ATTACKS: readonly Scenario[] = [
  {
    name: 'inflated-gossip',
    who: 'member',
    does: '30 messages under 30 fresh authors on one connection, each inflating to 60 MiB, over and over',
    boundedBy: '--gossip-max-memory, INFLATED_BYTES_PER_S',
    appliesToLegacy: true,
    async run({ target, signal, peer, config }) {
      const sealing = createSealing(config)
      const attacker = await peer()
      const connection = await dialTarget(attacker, target, signal)
      const stream = await openGossip(connection, [sealing.topic()], signal)
      const plaintext = createBomb()
      let sent = 0
      while (!signal.aborted && stream.status === 'open') {
        for (let at = 0; at < 30 && !signal.aborted; at++) {
          const message = await signMessage(createAuthor().seed, sealing.topic(), sealing.envelope(plaintext))
          if (!(await sendAll(stream, gossipFrame({ messages: [message] }), signal))) break
          sent++
        }
        await pause(1_000, signal)
      }
      return `${sent} messages of ${Math.round(plaintext.length / 1024)} KiB, the stream is ${stream.status}`
    },
  },
  {
    name: 'incompressible-gossip',
    who: 'member',
    does: '30 messages of 320 KiB under fresh authors, over and over: full of entries',
    boundedBy: '--gossip-max-memory, INFLATED_BYTES_PER_S',
    appliesToLegacy: true,
    async run({ target, signal, peer, config }) {
      const sealing = createSealing(config)
      const connection = await dialTarget(await peer(), target, signal)
      const stream = await openGossip(connection, [sealing.topic()], signal)
      const padding = Array.from(
        { length: 3_000 },
        (_, at) => `"k${at}":{"Value":"\\"${'v'.repeat(2_000)}\\""}`,
      )
      const plaintext = gzipSync(
        `{"Index":0,"Timestamp":"","Storage":{"notes":{${padding.join(',')}}},"Hash":"","PrevHash":""}`,
      )
      let sent = 0
      while (!signal.aborted && stream.status === 'open') {
        const message = await signMessage(createAuthor().seed, sealing.topic(), sealing.envelope(plaintext))
        if (!(await sendAll(stream, gossipFrame({ messages: [message] }), signal))) break
        sent++
        await pause(20, signal)
      }
      return `${sent} messages, the stream is ${stream.status}`
    },
  },
  {
    name: 'fresh-authors',
    who: 'member',
    does: 'a fresh author for each small block with one good entry, as fast as the other side takes them',
    boundedBy: 'MAX_HEARD_MEMBERS, MAX_MEMBERS_REMEMBERED, --ledger-max-entries',
    appliesToLegacy: true,
    async run({ target, signal, peer, config }) {
      const sealing = createSealing(config)
      const connection = await dialTarget(await peer(), target, signal)
      const stream = await openGossip(connection, [sealing.topic()], signal)
      let sent = 0
      while (!signal.aborted && stream.status === 'open') {
        const { seed, signer } = createAuthor()
        const block = gzippedBlock([
          signEntry(signer, ['healthcheck', signer.peerId, new Date().toISOString()]),
        ])
        const message = await signMessage(seed, sealing.topic(), sealing.envelope(block))
        if (!(await sendAll(stream, gossipFrame({ messages: [message] }), signal))) break
        if (++sent % 50 === 0) await pause(1, signal)
      }
      return `${sent} authors`
    },
  },
  {
    name: 'replayed-author',
    who: 'stranger',
    does: 'signs a sealed message that it saw as its own, and asks to be treated as a member',
    boundedBy: 'an own entry of the author in the block; the proof of membership for nodes of our kind',
    appliesToLegacy: true,
    async run({ target, signal, peer }) {
      const seed = createAuthor().seed
      const attacker = await peer({ seed })
      strangers.set(target.pid, attacker.peerId.toString())
      const seen: RPC.Message[] = []
      const topics = new Set<string>()
      await attacker.handle(GOSSIP_PROTOCOL, (stream) => collectMessages(stream, seen, topics), {
        runOnLimitedConnection: true,
      })
      const connection = await dialTarget(attacker, target, signal)
      const out = await openGossip(connection, [], signal)
      await untilTrue(20_000, async () => topics.size > 0)
      const graft = [...topics].map((topic) => ({ topicID: topic }))
      const subscriptions = [...topics].map((topic) => ({ subscribe: true, topic }))
      out.send(
        gossipFrame({ subscriptions, control: { graft, ihave: [], iwant: [], prune: [], idontwant: [] } }),
      )
      let replayed = 0
      while (!signal.aborted && out.status === 'open') {
        for (const message of seen.splice(0)) {
          const { topic, data } = message
          if (topic === undefined || data === undefined) continue
          out.send(gossipFrame({ messages: [await signMessage(seed, topic, data)] }))
          replayed++
        }
        await pause(100, signal)
      }
      return `${replayed} messages replayed`
    },
    async reached({ target }) {
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
