/** Attacks on services and egress by members that may use them: slow readers, datagrams of no byte, requests in heaps. */
import { rmSync } from 'node:fs'
import { createServer, type ListenOptions, type Server } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Connection, Libp2p, Stream } from '@libp2p/interface'
import { encodeBlock, type KeyedEntry, type Signer } from '@mesh/ledger'
import { createNodeSigner } from '@mesh/ledger/node'
import { randomBytes } from 'node:crypto'
import {
  dialOrStop,
  framed,
  onFrames,
  openStream,
  overAndOver,
  sendAll,
  sendMuch,
  together,
} from '../attackers.ts'
import { createSealing, gossipFrame, gzippedBlock, openGossip, signEntry, signMessage } from '../gossip.ts'
import { beMember } from '../membership.ts'
import type { Attack, LegacyVictim, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { heartbeatOf, untilHeld } from '../voice.ts'

export const SERVICE = '/mesh/service/1'
export const LEGACY_EGRESS = '/edgevpn/egress/0.1'
export const LEGACY_SERVICE = '/edgevpn/service/0.1'
/** Where the targets of the victim's services listen. */
const PORTS = {
  endless: 47_941,
  datagrams: 47_942,
  destination: 47_943,
  sipped: 47_944,
  origin: 47_961,
  sink: 47_962,
  crumbs: 47_963,
  unread: 47_965,
}
/** The system keeps little of what is written to a unix socket that nobody reads, and megabytes over TCP. */
const UNREAD_PATH = join(tmpdir(), 'mesh-attack-unread.sock')
export const STREAM = 0
const DATAGRAM = 1
const USERS = 4
const STREAMS = 500
/** How long a connection is read that is read now and then, and how long it is not in between, in ms. */
const [SIP_MS, SIP_EACH_MS] = [2, 50]
/** More than a stream's first window, its target's socket and what waits for that hold. */
const UNREAD_BYTES = 2 * 1024 * 1024
const CHUNKED = 'Transfer-Encoding: chunked\r\n\r\n'
const CRUMBS = '1\r\na\r\n'
const legacyRequest = (method: string, port: number, rest: string) =>
  Buffer.from(`${method} / HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n${rest}`)
const EGRESS_ARGS = ['--egress', '--egress-allow=127.0.0.0/8']
/** Only a legacy node with a VPN is one for egress. */
export const LEGACY_EGRESS_VICTIM: LegacyVictim = { hasVpn: true, flags: ['--egress'] }
const OF_NO_BYTE = Buffer.alloc(60_000)

/** The entries by which a member may use services. */
export function userEntries(signer: Signer): KeyedEntry[] {
  const user = { PeerID: signer.peerId, Timestamp: new Date().toISOString() }
  return [heartbeatOf(signer), signEntry(signer, ['users', signer.peerId, user])]
}

/** A peer with the entries by which it may use services. */
export async function connectUser(attack: Attack, from: string) {
  const { target, signal } = attack
  const seed = Uint8Array.from(randomBytes(32))
  const peer = await attack.peer({ seed, from })
  const connection = await dialOrStop(peer, target, signal)
  const signer = createNodeSigner(seed)
  const entries = userEntries(signer)
  return {
    peer,
    connection,
    seed,
    entries,
    prove: () => beMember(attack, { connection, self: peer.peerId }),
  }
}

/** A request for a service, as `docs/PROTOCOLS.md` has it. */
export function serviceRequest(name: string, kind: number, entries: Uint8Array): Uint8Array {
  const field = (number: number, bytes: Uint8Array) =>
    Buffer.concat([Buffer.of((number << 3) | 2), framed(bytes)])
  return framed(Buffer.concat([field(1, Buffer.from(name)), Buffer.of(2 << 3, kind), field(3, entries)]))
}

/** A connection that may use the victim's services, and how a stream to one of them is begun. */
export interface Served {
  readonly peer: Libp2p
  readonly connection: Connection
  readonly protocol: string
  /** What asks for the service; a legacy node has one alone, and is asked for nothing. */
  readonly request: Uint8Array
}

/** Connects a fresh key that may use a service. */
export async function connectServed(attack: Attack, from: string, name: string): Promise<Served> {
  if (attack.target.kind === 'legacy')
    return { ...(await connectLegacyUser(attack, from)), protocol: LEGACY_SERVICE, request: Buffer.alloc(0) }
  const { peer, connection, entries, prove } = await connectUser(attack, from)
  await prove()
  const request = serviceRequest(name, STREAM, encodeBlock(entries))
  return { peer, connection, protocol: SERVICE, request }
}

/** A legacy victim with a service whose target listens at a port. */
export const legacyService = (name: string, port: number): LegacyVictim => ({
  command: ['service-add', name, `127.0.0.1:${port}`],
})

/** Listens for as long as the attack goes on. */
export async function listen(attack: Attack, place: ListenOptions, server: Server): Promise<void> {
  await new Promise<void>((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host: '127.0.0.1', ...place }, resolve)
  })
  attack.signal.addEventListener('abort', () => server.close())
}

/** Sends for ever to anyone who connects. */
export function createEndless({ tally }: Attack): Server {
  const block = Buffer.alloc(1024 * 1024)
  return createServer((socket) => {
    tally.count('connections')
    const send = () => {
      while (!socket.destroyed && socket.write(block)) tally.count('MiB sent')
    }
    socket.on('drain', send).on('error', () => {})
    send()
  })
}

/** The part of a connection that can be read or not, whatever its streams do. */
interface Paused {
  readonly maConn?: { pause(): void; resume(): void }
}

/** Stops to read the connection itself, whatever its streams have room for. */
export function stopReading(connection: Connection): void {
  const { maConn } = connection as Connection & Paused
  if (maConn === undefined) throw new Error('the connection cannot be paused')
  maConn.pause()
}

/** Reads a connection for a moment, now and then. */
async function sip({ maConn }: Connection & Paused, signal: AbortSignal): Promise<void> {
  await pause(SIP_EACH_MS, signal)
  maConn?.resume()
  await pause(SIP_MS, signal)
  maConn?.pause()
}

async function readLittle(attack: Attack, at: number, mayIRead = false): Promise<void> {
  const { signal, tally } = attack
  const from = `127.0.0.${2 + (at % 2)}`
  const { connection, protocol, request } = await connectServed(attack, from, 'endless')
  const streams: Stream[] = []
  while (streams.length < STREAMS && !signal.aborted) {
    const opening = Array.from({ length: 20 }, () => openStream(connection, protocol, signal))
    streams.push(...(await Promise.all(opening)))
  }
  for (const stream of streams) {
    stream.pause()
    stream.send(request)
    tally.count('requests')
  }
  await pause(20, signal)
  stopReading(connection)
  while (!signal.aborted && connection.status === 'open') {
    if (mayIRead) await sip(connection, signal)
    else await pause(200, signal)
  }
}

/** Counts who connects, and reads nothing of what they send. */
export function createDeaf({ tally }: Attack): Server {
  return createServer({ pauseOnConnect: true }, (socket) => {
    tally.count('connections')
    socket.on('error', () => {})
  })
}

async function fillStreams(attack: Attack, at: number): Promise<void> {
  const { signal, tally } = attack
  const from = `127.0.0.${2 + (at % 2)}`
  const { connection, protocol, request } = await connectServed(attack, from, 'unread')
  const filling = Buffer.alloc(UNREAD_BYTES)
  for (let opened = 0; opened < STREAMS && !signal.aborted && connection.status === 'open'; opened++) {
    const stream = await openStream(connection, protocol, signal)
    stream.send(request)
    void sendMuch(stream, filling, signal).then((sent) => tally.count('KiB', sent / 1024))
    // a few at a time, so that each gets as far as it can
    if (opened % 8 === 0) await pause(5, signal)
  }
  while (!signal.aborted && connection.status === 'open') await pause(200, signal)
}

async function sendOfNoByte(attack: Attack): Promise<void> {
  const { signal, tally } = attack
  const { connection, entries, prove } = await connectUser(attack, '127.0.0.2')
  await prove()
  const stream = await openStream(connection, SERVICE, signal)
  onFrames(stream, () => tally.count('answers'))
  stream.send(serviceRequest('datagrams', DATAGRAM, encodeBlock(entries)))
  while (!signal.aborted && stream.status === 'open') {
    if (!(await sendAll(stream, OF_NO_BYTE, signal))) break
    tally.count('datagrams', OF_NO_BYTE.length)
  }
}

/** Counts who connects, and answers nobody. */
function createSilent({ tally }: Attack): Server {
  return createServer((socket) => {
    tally.count('connections')
    socket.on('error', () => {})
  })
}

/** Becomes a legacy member that may use egress. */
export async function connectLegacyUser(
  attack: Attack,
  from: string,
): Promise<{ readonly peer: Libp2p; readonly connection: Connection }> {
  const { signal, config } = attack
  const { peer, connection, entries, seed } = await connectUser(attack, from)
  const sealing = createSealing(config)
  const gossip = await openGossip(connection, [sealing.topic()], signal)
  const block = sealing.envelope(gzippedBlock(entries))
  gossip.send(gossipFrame({ messages: [await signMessage(seed, sealing.topic(), block)] }))
  await untilHeld(attack, 'users', entries.at(-1)?.key ?? '')
  return { peer, connection }
}

/** Has each of 128 streams of four keys ask for one thing, and reads nothing of the answers. */
async function askAndNotRead(attack: Attack, request: Uint8Array): Promise<void> {
  const { signal, tally } = attack
  await together(USERS, (at) =>
    overAndOver(attack, async () => {
      const { connection } = await connectLegacyUser(attack, `127.0.0.${2 + (at % 2)}`)
      await together(32, () =>
        overAndOver(attack, async () => {
          const stream = await openStream(connection, LEGACY_EGRESS, signal)
          stream.pause()
          tally.count('streams')
          await sendAll(stream, request, signal)
          while (stream.status === 'open' && !signal.aborted) await pause(100, signal)
        }),
      )
    }),
  )
}

/** An origin that says so, and then the same again and again. */
function createOrigin({ tally }: Attack, head: string, part: Uint8Array): Server {
  return createServer((socket) => {
    tally.count('connections')
    socket.write(head)
    const send = () => {
      while (!socket.destroyed && socket.write(part)) tally.count('parts sent')
    }
    socket.on('drain', send).on('error', () => {})
    send()
  })
}

/** Asks for a thousand things in each block of bytes. */
async function askInHeaps(attack: Attack): Promise<void> {
  const { signal, tally } = attack
  const { connection } = await connectLegacyUser(attack, '127.0.0.2')
  const requests = Buffer.from(`GET / HTTP/1.1\r\nHost: 127.0.0.1:${PORTS.destination}\r\n\r\n`.repeat(1_000))
  while (!signal.aborted && connection.status === 'open') {
    const stream = await openStream(connection, LEGACY_EGRESS, signal)
    tally.count('streams')
    if (await sendAll(stream, requests, signal)) tally.count('requests', 1_000)
    await pause(100, signal)
  }
}

export const SERVICE_ATTACKS: readonly Scenario[] = [
  {
    name: 'service-readers',
    who: 'member',
    does: `${USERS} keys connect to a service ${STREAMS} times each, from two addresses, and read nothing of what it sends for ever`,
    boundedBy: 'SERVED_CONNECTIONS, SERVED_UNWRITTEN_BYTES',
    legacy: legacyService('endless', PORTS.endless),
    aim: 'connections',
    needs: [`--service-add=endless=127.0.0.1:${PORTS.endless}`],
    async run(attack) {
      await listen(attack, { port: PORTS.endless }, createEndless(attack))
      await together(USERS, (at) => overAndOver(attack, () => readLittle(attack, at)))
    },
  },
  {
    name: 'service-sippers',
    who: 'member',
    does: `the same, but each connection is read for ${SIP_MS} ms of ${SIP_EACH_MS + SIP_MS}, and each of its streams brings more`,
    boundedBy: 'MUCH_UNSENT_BYTES, the loop budget, SERVED_UNWRITTEN_BYTES',
    legacy: legacyService('endless', PORTS.sipped),
    aim: 'connections',
    needs: [`--service-add=endless=127.0.0.1:${PORTS.sipped}`],
    async run(attack) {
      await listen(attack, { port: PORTS.sipped }, createEndless(attack))
      await together(USERS, (at) => overAndOver(attack, () => readLittle(attack, at, true)))
    },
  },
  {
    name: 'service-writers',
    who: 'member',
    does: `${USERS} keys connect ${STREAMS} times each, from two addresses, to a service whose target reads nothing, and fill each stream`,
    boundedBy: 'UNREAD_BYTES, SERVED_UNWRITTEN_BYTES, SERVED_CONNECTIONS',
    legacy: legacyService('unread', PORTS.unread),
    aim: 'connections',
    needs: [`--service-add=unread=unix://${UNREAD_PATH}`],
    async run(attack) {
      rmSync(UNREAD_PATH, { force: true })
      // a legacy node has services over TCP alone
      const place = attack.target.kind === 'mesh' ? { path: UNREAD_PATH } : { port: PORTS.unread }
      await listen(attack, place, createDeaf(attack))
      await together(USERS, (at) => overAndOver(attack, () => fillStreams(attack, at)))
    },
  },
  {
    name: 'service-datagrams',
    who: 'member',
    does: 'datagrams of no byte to a service, 60,000 in each block of bytes, on 4 connections',
    boundedBy: 'MAX_DATAGRAMS_AT_ONCE',
    legacy: { meaningless: 'services of TCP alone' },
    aim: 'answers',
    needs: [`--service-add=datagrams=udp:127.0.0.1:${PORTS.datagrams}`],
    run: (attack) => together(4, () => overAndOver(attack, () => sendOfNoByte(attack))),
  },
  {
    name: 'egress-requests',
    who: 'member',
    does: 'a thousand requests in each stream to egress as legacy members have it, for what answers nothing',
    boundedBy: 'one request for each stream; SERVED_CONNECTIONS',
    legacy: LEGACY_EGRESS_VICTIM,
    aim: 'requests',
    needs: EGRESS_ARGS,
    async run(attack) {
      await listen(attack, { port: PORTS.destination }, createSilent(attack))
      await together(4, () => overAndOver(attack, () => askInHeaps(attack)))
    },
    async reached({ tally }) {
      const [streams, connections] = [tally.of('streams'), tally.of('connections')]
      return connections <= 2 * streams ? undefined : `${connections} connections by ${streams} streams`
    },
  },
  {
    name: 'egress-downloads',
    who: 'member',
    does: '128 streams of 4 keys to egress as legacy members have it ask an origin that answers without end, and read nothing',
    boundedBy:
      'nothing is read of an origin whose client does not read; SERVED_UNWRITTEN_BYTES, the loop budget',
    legacy: LEGACY_EGRESS_VICTIM,
    aim: 'connections',
    needs: EGRESS_ARGS,
    async run(attack) {
      const origin = createOrigin(attack, 'HTTP/1.1 200 OK\r\n\r\n', Buffer.alloc(1024 * 1024))
      await listen(attack, { port: PORTS.origin }, origin)
      await askAndNotRead(attack, legacyRequest('GET', PORTS.origin, '\r\n'))
    },
  },
  {
    name: 'egress-crumbs',
    who: 'member',
    does: 'the same with answers in chunks of one byte',
    boundedBy: 'what comes together goes on together; SERVED_UNWRITTEN_BYTES, the loop budget',
    legacy: LEGACY_EGRESS_VICTIM,
    aim: 'connections',
    needs: EGRESS_ARGS,
    async run(attack) {
      const part = Buffer.from(CRUMBS.repeat(50_000))
      await listen(
        attack,
        { port: PORTS.crumbs },
        createOrigin(attack, `HTTP/1.1 200 OK\r\n${CHUNKED}`, part),
      )
      await askAndNotRead(attack, legacyRequest('GET', PORTS.crumbs, '\r\n'))
    },
  },
  {
    name: 'egress-uploads',
    who: 'member',
    does: 'the same with requests whose bodies have 1.2 MB in chunks of one byte, for what reads nothing',
    boundedBy: 'MAX_PIECES_AT_ONCE, REQUEST_PIECE_BYTES',
    legacy: LEGACY_EGRESS_VICTIM,
    aim: 'connections',
    needs: EGRESS_ARGS,
    async run(attack) {
      await listen(attack, { port: PORTS.sink }, createDeaf(attack))
      await askAndNotRead(attack, legacyRequest('POST', PORTS.sink, CHUNKED + CRUMBS.repeat(200_000)))
    },
  },
]
