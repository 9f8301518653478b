/** Attacks by what is written into the ledger, and by how it is compared. */
import { gzipSync } from 'node:zlib'
import { createNodeSigner } from '@mesh/ledger/node'
import type { KeyedEntry, Signer } from '@mesh/ledger'
import type { Attack, Scenario } from '../scenario.ts'
import { dialTarget, framed, openStream, sendAll } from '../attackers.ts'
import {
  createAuthor,
  createSealing,
  gossipFrame,
  gzippedBlock,
  openGossip,
  signEntry,
  signMessage,
} from '../gossip.ts'
import { proveMembership } from '../membership.ts'
import { greeting, rangeField } from '../sync-message.ts'
import { pause } from '../until-true.ts'

const REPLICATION = '/mesh/replication/1'
const MB = 1024 * 1024
const HOUR_MS = 3_600_000

interface Voice {
  readonly isOpen: () => boolean
  /** Publishes a block under an author, a fresh one unless given; false when the stream has ended. */
  say(plaintext: Uint8Array, seed?: Uint8Array): Promise<boolean>
}

/** A connection that speaks on the topic. */
async function openVoice({ target, signal, peer, config }: Attack): Promise<Voice> {
  const sealing = createSealing(config)
  const connection = await dialTarget(await peer(), target, signal)
  const stream = await openGossip(connection, [sealing.topic()], signal)
  return {
    isOpen: () => stream.status === 'open' && !signal.aborted,
    async say(plaintext, seed = createAuthor().seed) {
      const message = await signMessage(seed, sealing.topic(), sealing.envelope(plaintext))
      return await sendAll(stream, gossipFrame({ messages: [message] }), signal)
    },
  }
}

/** A member with a key of its own that signs fast. */
function createMember(): { readonly seed: Uint8Array; readonly signer: Signer } {
  const { seed } = createAuthor()
  return { seed, signer: createNodeSigner(seed) }
}

function heartbeatOf(signer: Signer, atMs = Date.now()): KeyedEntry {
  return signEntry(signer, ['healthcheck', signer.peerId, new Date(atMs).toISOString()])
}

/** Says entries in blocks of 500, under their signer. */
async function sayEntries(voice: Voice, seed: Uint8Array, entries: readonly KeyedEntry[]): Promise<number> {
  let said = 0
  for (let at = 0; at < entries.length && voice.isOpen(); at += 500) {
    const block = entries.slice(at, at + 500)
    if (!(await voice.say(gzippedBlock(block), seed))) break
    said += block.length
    await pause(50)
  }
  return said
}

/** Speaks one side of a session until the other cuts it off; gives how many messages were sent. */
async function askOverAndOver(attack: Attack, message: () => Uint8Array): Promise<number> {
  const { target, signal, config } = attack
  let sent = 0
  while (!signal.aborted) {
    try {
      const peer = await attack.peer()
      const connection = await dialTarget(peer, target, signal)
      await proveMembership({ connection, self: peer.peerId }, config, signal)
      while (connection.status === 'open' && !signal.aborted) {
        const stream = await openStream(connection, REPLICATION, signal)
        stream.addEventListener('message', () => {
          // whatever the answer is, the next question is the same
          void sendAll(stream, framed(message()), signal).then((isSent) => (sent += isSent ? 1 : 0))
        })
        await sendAll(stream, framed(greeting(20_000)), signal)
        while (stream.status === 'open' && !signal.aborted) await pause(50, signal)
        if (stream.status !== 'open') break
      }
    } catch {
      await pause(100, signal)
    }
  }
  return sent
}

/** Fills the victim's ledger, so that there is something to look through. */
async function fill(attack: Attack, bucket: string, count: number): Promise<number> {
  const voice = await openVoice(attack)
  const { seed, signer } = createMember()
  const entries = Array.from({ length: count }, (_, n) => signEntry(signer, [bucket, `k${n}`, n]))
  return await sayEntries(voice, seed, entries)
}

export const LEDGER_ATTACKS: readonly Scenario[] = [
  {
    name: 'overlapping-ranges',
    who: 'member',
    does: 'asks with 512 ranges that all are the whole ledger, of 5,000 entries, under a fresh key when it is cut off',
    boundedBy: 'ranges that overlap are refused; SESSIONS_TIME_SHARE, ALL_SESSIONS_PER_MINUTE',
    appliesToLegacy: false,
    async run(attack) {
      await fill(attack, 'filled', 5_000)
      const ranges = Array.from({ length: 512 }, () => rangeField(undefined, undefined, 5_000))
      const message = Buffer.concat(ranges)
      return `${await askOverAndOver(attack, () => message)} turns`
    },
  },
  {
    name: 'turns-of-ranges',
    who: 'member',
    does: 'turns of 512 ranges in order over 5,000 entries, none of which fits, under a fresh key when it is cut off',
    boundedBy: 'MAX_RANGES_IN_MESSAGE, WALK_STEP_ENTRIES, SESSIONS_TIME_SHARE',
    appliesToLegacy: false,
    async run(attack) {
      await fill(attack, 'filled', 5_000)
      const keys = Array.from({ length: 5_000 }, (_, n) => `k${n}`).toSorted()
      const places = Array.from({ length: 513 }, (_, n) => ({ bucket: 'filled', key: keys[n * 9] ?? '' }))
      const message = Buffer.concat(
        Array.from({ length: 512 }, (_, n) => rangeField(places[n], places[n + 1], 10_000)),
      )
      return `${await askOverAndOver(attack, () => message)} turns`
    },
  },
  {
    name: 'unknown-field',
    who: 'member',
    does: 'messages of 64 KiB with 63 MiB in a field that nobody knows, under fresh authors',
    boundedBy: 'MAX_SKIPPED_BYTES, SKIP_PAUSE_BYTES, INFLATED_BYTES_PER_S',
    appliesToLegacy: true,
    async run(attack) {
      const voice = await openVoice(attack)
      const list = '[],'.repeat(21 * MB)
      const block = gzipSync(
        `{"Nobody":[${list}0],"Index":0,"Timestamp":"","Storage":{},"Hash":"","PrevHash":""}`,
      )
      let sent = 0
      while (voice.isOpen() && (await voice.say(block))) {
        sent++
        await pause(500, attack.signal)
      }
      return `${sent} messages of ${Math.round(block.length / 1024)} KiB`
    },
  },
  {
    name: 'full-ledger',
    who: 'member',
    does: 'two keys write 40,000 entries into a ledger with room for 20,000; then a newcomer joins and writes',
    boundedBy: 'VITAL_ONE_IN, eviction of the largest signer, MAX_EVICTED_AT_ONCE',
    isApart: true,
    appliesToLegacy: false,
    victimArgs: ['--ledger-max-entries=20000'],
    honestComesLate: true,
    async run(attack) {
      const voice = await openVoice(attack)
      let said = 0
      for (let round = 0; voice.isOpen(); round++) {
        for (const member of [createMember(), createMember()]) {
          const { seed, signer } = member
          const entries = Array.from({ length: 10_000 }, (_, n) =>
            signEntry(signer, ['notes', `${round}/${n}`, n]),
          )
          said += await sayEntries(voice, seed, [heartbeatOf(signer), ...entries])
        }
        await pause(500, attack.signal)
      }
      return `${said} entries`
    },
  },
  {
    name: 'no-json-values',
    who: 'member',
    does: '600 values of 60 KB that are no JSON; then 20 readers ask for the whole ledger and block over and over',
    boundedBy: 'MAX_WHOLE_ANSWER_BYTES, LARGE_ANSWER_SEATS, MAX_LARGE_ANSWER_STALL_MS',
    isApart: true,
    appliesToLegacy: true,
    async run(attack) {
      const { signal, target } = attack
      const voice = await openVoice(attack)
      const { seed, signer } = createMember()
      for (let n = 0; n < 600 && voice.isOpen(); n += 20) {
        const entries = Array.from({ length: 20 }, (_, at) =>
          signEntry(signer, ['raw', `k${n + at}`, ''], { value: '\u0001'.repeat(60_000) }),
        )
        await voice.say(gzippedBlock(entries), seed)
        await pause(10, signal)
      }
      let bytes = 0
      const readers = Array.from({ length: 20 }, async (_, at) => {
        while (!signal.aborted) {
          const path = at % 2 === 0 ? '/api/ledger' : '/api/blockchain'
          try {
            const answer = await fetch(`${target.url}${path}`, { signal })
            for await (const piece of answer.body ?? []) bytes += (piece as Uint8Array).length
          } catch {
            await pause(50, signal)
          }
        }
      })
      await Promise.all(readers)
      return `${Math.round(bytes / MB)} MiB read`
    },
  },
  {
    name: 'claims-before',
    who: 'member',
    does: 'claims every key that the victim claims, dated a nanosecond earlier, under fresh live keys',
    boundedBy: 'races only by when a claim came; MAX_YIELDS, YIELD_MEMORY_MS',
    isApart: true,
    appliesToLegacy: false,
    async run(attack) {
      const { target, signal } = attack
      const voice = await openVoice(attack)
      let claims = 0
      for (let n = 0; voice.isOpen(); n++) {
        const key = `^claimed${n}$`
        await fetch(`${target.url}/api/ledger/dns/${encodeURIComponent(key)}?wait=1s`, {
          method: 'PUT',
          body: '{"A":"10.1.0.9"}',
          headers: { 'content-type': 'application/json' },
        })
        const held = await fetch(`${target.url}/api/blockchain/dns/${encodeURIComponent(key)}`)
        const version = BigInt(/"Version":(\d+)/.exec(await held.text())?.[1] ?? 0)
        const { seed, signer } = createMember()
        const claim = signEntry(signer, ['dns', key, { 1: '10.1.0.66' }], { version: version - 1n })
        await voice.say(gzippedBlock([heartbeatOf(signer)]), seed)
        await voice.say(gzippedBlock([claim]), seed)
        claims++
        await pause(50, signal)
      }
      return `${claims} claims`
    },
    async reached({ target }) {
      const block = (await (await fetch(`${target.url}/api/blockchain`)).json()) as {
        readonly Storage: { readonly dns?: Readonly<Record<string, { readonly Owner: string }>> }
      }
      const all = Object.values(block.Storage.dns ?? {})
      const lost = all.filter(({ Owner }) => Owner !== target.id).length
      // so many may be real races with members that claimed first
      return lost <= 32 ? undefined : `${lost} of ${all.length} keys were taken from their owner`
    },
  },
  {
    name: 'future-clocks',
    who: 'member',
    does: 'heartbeats and entries dated an hour ahead, and an hour back, under fresh authors',
    boundedBy: 'MAX_FUTURE_MS, MAX_CLOCK_SAMPLES',
    appliesToLegacy: true,
    async run(attack) {
      const voice = await openVoice(attack)
      let sent = 0
      while (voice.isOpen()) {
        const { seed, signer } = createMember()
        const ahead = sent % 2 === 0 ? HOUR_MS : -HOUR_MS
        const version = BigInt(Date.now() + ahead) * 1_000_000n
        const dated = { version, updatedAt: Math.floor((Date.now() + ahead) / 1000) }
        const entries = [
          signEntry(
            signer,
            ['healthcheck', signer.peerId, new Date(Date.now() + ahead).toISOString()],
            dated,
          ),
          signEntry(signer, ['notes', 'joined', 'x'], dated),
        ]
        if (!(await voice.say(gzippedBlock(entries), seed))) break
        if (++sent % 20 === 0) await pause(10, attack.signal)
      }
      return `${sent} members from another hour`
    },
  },
  {
    name: 'tombstones',
    who: 'member',
    does: 'claims 200 keys of the victim above its own entries, under keys without a heartbeat, over and over',
    boundedBy: 'ANNOUNCES_PER_SECOND, ANNOUNCE_PAUSE_MS, RETRACTIONS_PER_SECOND',
    appliesToLegacy: false,
    async run(attack) {
      const { target, signal } = attack
      const keys = Array.from({ length: 200 }, (_, n) => `^kept${n}$`)
      for (const key of keys) {
        await fetch(`${target.url}/api/ledger/dns/${encodeURIComponent(key)}`, {
          method: 'PUT',
          body: '{"A":"10.1.0.9"}',
          headers: { 'content-type': 'application/json' },
        })
      }
      const voice = await openVoice(attack)
      let sent = 0
      while (voice.isOpen()) {
        const { seed, signer } = createMember()
        const claims = keys.map((key) => signEntry(signer, ['dns', key, { 1: '10.1.0.66' }]))
        if (!(await voice.say(gzippedBlock(claims), seed))) break
        sent += claims.length
        await pause(20, signal)
      }
      return `${sent} claims`
    },
  },
  {
    name: 'idle-readers',
    who: 'stranger',
    does: '200 readers of events that never read, and 40 of the whole ledger',
    boundedBy: 'MAX_EVENT_READERS, MAX_TCP_EVENT_READERS, LARGE_ANSWER_SEATS',
    appliesToLegacy: false,
    async run({ target, signal }) {
      let taken = 0
      const hold = async (path: string) => {
        while (!signal.aborted) {
          try {
            const answer = await fetch(`${target.url}${path}`, { signal })
            if (answer.ok) taken++
            else await answer.body?.cancel()
            await pause(answer.ok ? 60_000 : 200, signal)
          } catch {
            await pause(200, signal)
          }
        }
      }
      const paths = Array.from({ length: 240 }, (_, n) => (n < 200 ? '/api/events' : '/api/ledger'))
      await Promise.all(paths.map(hold))
      return `${taken} answers held`
    },
  },
  {
    name: 'posing-legacy',
    who: 'member',
    does: 'a fresh author each 50 ms that looks like a legacy member which just came, with a ledger of 5,000 entries',
    boundedBy: 'WHOLE_LEDGER_INTERVAL_MS, WHOLE_LEDGER_BYTES_PER_S, REPUBLISH_INTERVAL_MS',
    appliesToLegacy: true,
    async run(attack) {
      await fill(attack, 'filled', 5_000)
      const voices = await Promise.all(Array.from({ length: 8 }, () => openVoice(attack)))
      let sent = 0
      while (voices.some((voice) => voice.isOpen())) {
        const { seed, signer } = createMember()
        const voice = voices[sent % voices.length]
        await voice?.say(gzippedBlock([heartbeatOf(signer)]), seed)
        sent++
        await pause(50, attack.signal)
      }
      return `${sent} legacy members`
    },
  },
]
