/** Attacks on what a node learns of where others are: what peers say of themselves, and what members tell of others. */
import { randomBytes } from 'node:crypto'
import { createServer } from 'node:net'
import { generateKeyPairFromSeed, publicKeyToProtobuf } from '@libp2p/crypto/keys'
import type { Libp2p, PrivateKey } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { dialTarget, framed, overAndOver, together } from '../attackers.ts'
import { beMember } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { field, openTelling, PEERS, type Told, toldOf } from '../telling.ts'
import { pause } from '../until-true.ts'

const IDENTIFY = '/ipfs/id/1.0.0'
/** Members that lie at a time, what they tell in one message, and the addresses of each. */
const [TELLERS, RECORDS, ADDRESSES] = [4, 16, 16]
/** How long after the attack began an honest member tells of a newcomer, and how long that may take to be dialled, in ms. */
const [NEWS_AFTER_MS, DIALLED_WITHIN_MS] = [3_000, 10_000]
/** As many addresses as a record takes. */
const LONG = 320
/** More dials of third parties than a node makes in ten seconds. */
const MAX_DIALS_PER_S = 400

interface Watched {
  /** Where third parties listen. */
  readonly port: number
  /** What the newcomer says of itself, signed. */
  readonly newcomer: Told
  toldMs: number
  dialledMs: number
  readonly sinceMs: number
}

const watching = new WeakMap<Attack, Watched>()

/** Third parties, all addresses of loopback at one port, that take connections and say nothing; and a newcomer that is no liar. */
async function watch(attack: Attack): Promise<Watched> {
  const { tally, signal } = attack
  const third = createServer((socket) => {
    tally.count('dials of third parties')
    socket.on('error', () => {})
    signal.addEventListener('abort', () => socket.destroy(), { once: true })
  })
  await new Promise<void>((resolve) => third.listen(0, '0.0.0.0', resolve))
  signal.addEventListener('abort', () => third.close(), { once: true })
  const seed = await greaterSeed(attack.target.id)
  const newcomer = await attack.peer({ seed, listen: '/ip4/127.0.0.1/tcp/0' })
  const watched: Watched = {
    port: (third.address() as { readonly port: number }).port,
    newcomer: await toldOf(await generateKeyPairFromSeed('Ed25519', seed), newcomer.getMultiaddrs()),
    toldMs: Number.NaN,
    dialledMs: Number.POSITIVE_INFINITY,
    sinceMs: performance.now(),
  }
  newcomer.addEventListener('connection:open', () => {
    watched.dialledMs = Math.min(watched.dialledMs, performance.now())
  })
  watching.set(attack, watched)
  return watched
}

/** The seed of a key with a greater id: of two peers that learn of each other the one with the smaller id dials. */
export async function greaterSeed(id: string): Promise<Uint8Array> {
  for (;;) {
    const seed = randomBytes(32)
    const peer = peerIdFromPrivateKey(await generateKeyPairFromSeed('Ed25519', seed))
    if (peer.toString() > id) return seed
  }
}

/** Addresses of third parties, others each time. */
const strangers = ({ port }: Watched, at: number): Multiaddr[] =>
  Array.from({ length: ADDRESSES }, (_, n) =>
    multiaddr(`/ip4/127.${1 + (at % 200)}.${(at / 200) & 255}.${1 + n}/tcp/${port}`),
  )

export const freshKey = () => generateKeyPairFromSeed('Ed25519', randomBytes(32))

/** An honest member, from another address, tells of the newcomer once. */
async function tellOfNewcomer(attack: Attack, watched: Watched): Promise<void> {
  const { signal } = attack
  await pause(NEWS_AFTER_MS, signal)
  const telling = await openTelling(attack, '127.0.0.9')
  await telling.tell([watched.newcomer])
  watched.toldMs = performance.now()
  while (!signal.aborted) await pause(100, signal)
}

/** Tells whether the newcomer was dialled in time, and whether third parties were dialled too often. */
async function judge(attack: Attack): Promise<string | undefined> {
  const watched = watching.get(attack)
  if (watched === undefined) return undefined
  while (
    !Number.isFinite(watched.dialledMs) &&
    !(performance.now() - watched.toldMs > DIALLED_WITHIN_MS) &&
    Number.isFinite(watched.toldMs)
  )
    await pause(50)
  const tookMs = watched.dialledMs - watched.toldMs
  if (Number.isFinite(tookMs)) attack.tally.count('ms until a newcomer was dialled', tookMs)
  const perS = (attack.tally.of('dials of third parties') * 1_000) / (performance.now() - watched.sinceMs)
  if (Number.isNaN(watched.toldMs)) return 'nobody told of the newcomer'
  if (!(tookMs <= DIALLED_WITHIN_MS))
    return `a newcomer was not dialled within ${DIALLED_WITHIN_MS / 1_000} s`
  return perS > MAX_DIALS_PER_S ? `it dialled third parties ${Math.round(perS)} times a second` : undefined
}

const longRecords = new WeakMap<Attack, readonly (readonly Told[])[]>()

/** As many records as a message may have, as long as they may be. */
async function longMessage(at: number): Promise<readonly Told[]> {
  return await Promise.all(
    Array.from({ length: 64 }, async (_, n) => {
      const addresses = Array.from({ length: LONG }, (_each, last) =>
        multiaddr(`/ip4/10.${at}.${n}.${last % 256}/tcp/${4_001 + last}`),
      )
      return await toldOf(await freshKey(), addresses)
    }),
  )
}

/** Says of itself what is given to anyone who asks by identify. */
async function answerIdentify(peer: Libp2p, answer: () => Promise<readonly Uint8Array[]>): Promise<void> {
  await peer.unhandle(IDENTIFY)
  await peer.handle(IDENTIFY, async (stream) => {
    for (const bytes of await answer()) stream.send(framed(bytes))
    await stream.close()
  })
}

/** A whole answer to identify of a peer that says that it is at these addresses. */
async function identityOf(key: PrivateKey, home: Multiaddr[]): Promise<Uint8Array> {
  return Buffer.concat([
    field(1, publicKeyToProtobuf(key.publicKey)),
    ...home.map((address) => field(2, address.bytes)),
    field(3, Buffer.from(PEERS)),
    field(8, (await toldOf(key, home)).record),
  ])
}

/** Comes under a fresh key that says that it is at these addresses, and leaves. */
export async function comeAndLeave(attack: Attack, home: Multiaddr[]): Promise<void> {
  const { signal, target, tally } = attack
  const seed = randomBytes(32)
  const key = await generateKeyPairFromSeed('Ed25519', seed)
  const peer = await attack.peer({ seed })
  const identity = await identityOf(key, home)
  await answerIdentify(peer, async () => [identity])
  const connection = await dialTarget(peer, target, signal)
  await beMember(attack, { connection, self: peer.peerId })
  await pause(200, signal)
  await peer.stop()
  tally.count('members that left')
}

export const DISCOVERY_ATTACKS: readonly Scenario[] = [
  {
    name: 'false-records',
    who: 'member',
    does:
      `${TELLERS} keys tell of ${RECORDS} peers in each message that are nowhere, at ${ADDRESSES} addresses of third parties each, and of the same ` +
      'peers at others again and again; an honest member tells of one newcomer',
    boundedBy:
      'addresses that tell of peers take turns; NEW_RECORDS, MAX_VAIN_DIALS_PER_MINUTE, MAX_FURTHER_DIALS, MAX_PARALLEL_DIALS',
    legacy: {},
    // judged by a time that a besieged node does not keep
    isApart: true,
    aim: 'records told',
    async run(attack) {
      const watched = await watch(attack)
      const { signal, tally } = attack
      let at = 0
      const keys = await Promise.all(Array.from({ length: 2 * RECORDS }, freshKey))
      const liar = () =>
        overAndOver(attack, async () => {
          const telling = await openTelling(attack)
          while (telling.isOpen()) {
            const told = await Promise.all(
              Array.from({ length: RECORDS }, async (_, n) => {
                const key = at % 2 === 0 ? keys[n] : undefined
                return await toldOf(key ?? (await freshKey()), strangers(watched, at++))
              }),
            )
            if (await telling.tell(told)) tally.count('records told', told.length)
            await pause(500, signal)
          }
        })
      await Promise.all([together(TELLERS, liar), tellOfNewcomer(attack, watched)])
    },
    reached: judge,
  },
  {
    name: 'false-homes',
    who: 'member',
    does: `keys come, prove themselves, say that they are at ${ADDRESSES} addresses of third parties, and leave, 8 at a time; an honest member tells of one newcomer`,
    boundedBy:
      'addresses from which peers were connected take turns; MAX_PARALLEL_DIALS, MEMBER_BACKOFF_MAX_MS, MAX_DIAL_FAILURES',
    legacy: {},
    isApart: true,
    aim: 'members that left',
    async run(attack) {
      const watched = await watch(attack)
      let at = 0
      const liar = () => overAndOver(attack, () => comeAndLeave(attack, strangers(watched, at++)))
      await Promise.all([together(8, liar), tellOfNewcomer(attack, watched)])
    },
    reached: judge,
  },
  {
    name: 'long-records',
    who: 'member',
    does: `48 keys tell of the same 512 peers, of which each record has ${LONG} addresses, over and over`,
    boundedBy:
      'MAX_PEER_RECORD_FIELDS, MAX_PEER_RECORDS; of what was told few addresses are kept, and a digest for each member',
    legacy: {},
    aim: 'records told',
    async prepare(attack) {
      longRecords.set(attack, await Promise.all(Array.from({ length: 8 }, (_, at) => longMessage(at))))
    },
    async run(attack) {
      const { signal, tally } = attack
      await together(48, () =>
        overAndOver(attack, async () => {
          const telling = await openTelling(attack)
          while (telling.isOpen()) {
            for (const message of longRecords.get(attack) ?? [])
              if (await telling.tell(message)) tally.count('records told', 64)
            await pause(1_000, signal)
          }
        }),
      )
    },
  },
  {
    name: 'identify-answers',
    who: 'stranger',
    does:
      'asked who they are, peers answer with thousands of protocols or addresses, with the record of another, with an older one, byte by byte, ' +
      'without end, or with what is none, and come back',
    boundedBy:
      'MAX_IDENTIFY_BYTES, MAX_IDENTIFY_STREAM_BYTES, IDENTIFY_TIMEOUT_MS, MAX_IDENTIFIED_AT_ONCE, MAX_KNOWN_PEERS',
    legacy: {},
    aim: 'answers',
    async run(attack) {
      const { signal, target, tally } = attack
      const other = await freshKey()
      const others = (await toldOf(other, [multiaddr('/ip4/192.0.2.1/tcp/1')])).record
      await together(24, (kind) =>
        overAndOver(attack, async () => {
          const seed = randomBytes(32)
          const key = await generateKeyPairFromSeed('Ed25519', seed)
          const own = field(1, publicKeyToProtobuf(key.publicKey))
          const peer = await attack.peer({ seed })
          await peer.unhandle(IDENTIFY)
          await peer.handle(IDENTIFY, async (stream) => {
            tally.count('answers')
            const say = (...parts: readonly Uint8Array[]) => stream.send(framed(Buffer.concat(parts)))
            if (kind % 8 === 0)
              say(own, ...Array.from({ length: 1_500 }, (_, at) => field(3, Buffer.from(`/${at}`))))
            else if (kind % 8 === 1)
              say(
                own,
                ...Array.from({ length: 700 }, (_, at) =>
                  field(2, multiaddr(`/ip4/192.0.${at >> 8}.${at & 255}/tcp/1`).bytes),
                ),
              )
            else if (kind % 8 === 2) say(own, field(8, others))
            else if (kind % 8 === 3) say(own, field(8, randomBytes(4_000)))
            else if (kind % 8 === 4)
              say(own, field(6, Buffer.alloc(7_000, 0x1b)), field(5, Buffer.alloc(1_000, 1)))
            else if (kind % 8 === 5) {
              const bytes = framed(Buffer.concat([own, field(6, Buffer.alloc(7_000, 120))]))
              for (let at = 0; at < bytes.length && stream.status === 'open' && !signal.aborted; at++) {
                stream.send(bytes.subarray(at, at + 1))
                await pause(20, signal)
              }
            } else if (kind % 8 === 6)
              for (let at = 0; at < 100_000 && stream.status === 'open' && !signal.aborted; at++) {
                say(own)
                if (at % 64 === 0) await pause(1, signal)
              }
            else stream.send(randomBytes(16_000))
            await stream.close()
          })
          const connection = await dialTarget(peer, target, signal)
          for (let waited = 0; waited < 20 && connection.status === 'open' && !signal.aborted; waited++)
            await pause(50, signal)
          await peer.stop()
        }),
      )
    },
  },
]
