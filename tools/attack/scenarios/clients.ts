/** Attacks by members whose services and egress a node's owner uses: they answer as they like. */
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createSocket } from 'node:dgram'
import type { Stream } from '@libp2p/interface'
import { framed, onFrames, overAndOver, sendAll, sendForEver, together, varint } from '../attackers.ts'
import { provide } from '../provider.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { pause } from '../until-true.ts'
import { LEGACY_EGRESS, LEGACY_SERVICE, SERVICE } from './services.ts'

const EGRESS = { mesh: '/mesh/egress/1', legacy: LEGACY_EGRESS } as const
/** Local connections to each kind of provider, and requests that each kind of origin has at a time. */
const [CLIENTS, REQUESTS] = [64, 16]
/** How long after each other local programs begin, in ms: what they cost the node themselves is none of the attack. */
const APART_MS = 20
/** Where the victim's proxy and its listener for datagrams are. */
const PORTS = { proxy: 47_951, datagrams: 47_952, legacy: 47_953 }
const OK = framed(Uint8Array.of(8, 0))
const MB = 1024 * 1024
/** How long another service may take to answer, in ms, however many connections go wrong. */
const ECHO_MS = 5_000

/** What is sent on a stream after the request, and whether the local client reads it. */
interface Deed {
  readonly isRead?: boolean
  run(stream: Stream, send: (bytes: Uint8Array) => Promise<boolean>, attack: Attack): Promise<unknown>
}

/** Sends each byte in a frame of its own. */
async function crumble(stream: Stream, bytes: Uint8Array, { signal }: Attack): Promise<void> {
  for (let at = 0; at < bytes.length && stream.status === 'open' && !signal.aborted; at++) {
    const mayFollow = stream.send(bytes.subarray(at, at + 1))
    // a few at a time: the attackers' own work must leave room for the other service
    if (!mayFollow || at % 100 === 99) await pause(10, signal)
  }
}

/** An answer that refuses with as long a reason as an answer may have. */
const LONG_ANSWER = framed(
  Buffer.concat([Uint8Array.of(8, 4, 18), varint(8_000), Buffer.alloc(8_000, 'reason ')]),
)

const SERVICES: Readonly<Record<string, Deed>> = {
  silent: { run: async () => {} },
  crumbs: { run: (stream, _send, attack) => crumble(stream, LONG_ANSWER, attack) },
  endless: {
    async run(_stream, send) {
      await send(OK)
      await sendForEver(Buffer.alloc(MB), send)
    },
  },
  small: {
    async run(stream, send, attack) {
      await send(OK)
      await send(Buffer.alloc(MB))
      await crumble(stream, Buffer.alloc(MB), attack)
    },
  },
  resets: {
    isRead: true,
    async run(stream, send, { signal }) {
      await send(OK)
      void send(Buffer.alloc(MB))
      await pause(Math.random() * 50, signal)
      stream.abort(new Error('reset'))
    },
  },
  wrong: { run: async (_stream, send) => await send(Buffer.alloc(MB, 0xff)) },
  halves: {
    async run(stream, send) {
      await send(OK)
      stream.pause()
      await stream.close()
    },
  },
}

const HINT = `HTTP/1.1 103 Early Hints\r\nLink: </${'x'.repeat(50_000)}>; rel=preload\r\n\r\n`
const CHUNKED = 'HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n'
const NAMES = `HTTP/1.1 200 OK\r\nContent-Length: 0\r\nConnection: ${'a,'.repeat(25_000)}\r\n${'b: c\r\n'.repeat(1_900)}\r\n`

const ORIGINS: Readonly<Record<string, Deed>> = {
  hints: { run: (_stream, send) => sendForEver(Buffer.from(HINT.repeat(4)), send) },
  interim: {
    run: (_stream, send) => sendForEver(Buffer.from('HTTP/1.1 102 Processing\r\n\r\n'.repeat(10_000)), send),
  },
  headers: {
    async run(_stream, send) {
      await send(Buffer.from('HTTP/1.1 200 OK\r\n'))
      await sendForEver(Buffer.from('x: y\r\n'.repeat(10_000)), send)
    },
  },
  names: { isRead: true, run: async (_stream, send) => await send(Buffer.from(NAMES)) },
  chunks: {
    async run(_stream, send) {
      await send(Buffer.from(CHUNKED))
      await sendForEver(Buffer.from('1\r\nx\r\n'.repeat(10_000)), send)
    },
  },
  body: {
    async run(_stream, send) {
      await send(Buffer.from('HTTP/1.1 200 OK\r\n\r\n'))
      await sendForEver(Buffer.alloc(MB), send)
    },
  },
  trailers: {
    isRead: true,
    async run(_stream, send) {
      await send(Buffer.from(`${CHUNKED}0\r\n`))
      await sendForEver(Buffer.from('x: y\r\n'.repeat(10_000)), send)
    },
  },
  switching: {
    isRead: true,
    run: async (_stream, send) =>
      await send(
        Buffer.from('HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n'),
      ),
  },
  silent: { run: async () => {} },
}

/** Does its deed on a stream. */
function begin(attack: Attack, deed: Deed, stream: Stream): void {
  const { signal, tally } = attack
  const send = async (bytes: Uint8Array) => {
    // what is thrown away at the other end is no attack
    const isSent = stream.remoteReadStatus === 'readable' && (await sendAll(stream, bytes, signal))
    if (isSent) tally.count('KiB', bytes.length / 1024)
    return isSent
  }
  void deed.run(stream, send, attack).catch((error: unknown) => tally.missed(error, signal))
}

/** Does its deed once on a stream when something has come that `isAwaited`. */
function serve(attack: Attack, deed: Deed, stream: Stream, isAwaited: (bytes: Uint8Array) => boolean): void {
  let isDone = false
  stream.addEventListener('message', ({ data }) => {
    if (isDone || !isAwaited(data.subarray())) return
    isDone = true
    begin(attack, deed, stream)
  })
}

/** Read once: what the victim is told must be where its clients connect. */
const FOLDER = tmpdir()
const socketPath = (name: string) => join(FOLDER, `mesh-${name}.sock`)
const LEGACY_NAME = 'attack-all'
const SERVICE_NAMES = [...Object.keys(SERVICES), 'echo'].map((kind) => `attack-${kind}`)

/** Offers a service of each kind, and one that says what it is told. */
async function offerServices(attack: Attack): Promise<void> {
  const offer = (kind: string, handle: (stream: Stream) => void) =>
    provide(attack, {
      protocol: SERVICE,
      entry: ({ peerId }) => ['services', `attack-${kind}`, { PeerID: peerId, Name: `attack-${kind}` }],
      serve: handle,
    })
  for (const [kind, deed] of Object.entries(SERVICES))
    await offer(kind, (stream) => {
      attack.tally.count('streams')
      serve(attack, deed, stream, () => true)
    })
  await offer('echo', (stream) => {
    let isAccepted = false
    stream.addEventListener('remoteCloseWrite', () => void stream.close().catch(() => {}))
    onFrames(stream, (frame) => {
      if (!isAccepted) stream.send(OK)
      else stream.send(framed(frame))
      isAccepted = true
    })
  })
  await offer('datagrams', (stream) => {
    attack.tally.count('streams')
    const frame = framed(Buffer.alloc(65_507))
    serve(
      attack,
      { run: async () => crumble(stream, Buffer.concat([OK, frame, frame]), attack) },
      stream,
      () => true,
    )
  })
}

/** Offers the one service that a legacy node is connected to: each of its streams is of another kind. */
async function offerLegacyService(attack: Attack): Promise<void> {
  const deeds = Object.values(SERVICES)
  let streams = 0
  await provide(attack, {
    protocol: LEGACY_SERVICE,
    entry: ({ peerId }) => ['services', LEGACY_NAME, { PeerID: peerId, Name: LEGACY_NAME }],
    serve(stream) {
      const deed = deeds[streams++ % deeds.length]
      attack.tally.count('streams')
      if (deed !== undefined) serve(attack, deed, stream, () => true)
    },
  })
}

/** Begins several local programs. */
function afterEachOther({ signal }: Attack, count: number, run: () => Promise<void>): Promise<void> {
  return together(count, async (at) => {
    await pause(at * APART_MS, signal)
    await run()
  })
}

/** Uses a local connection until it closes, or the attack is over. */
async function useSocket(attack: Attack, socket: Socket, use: (socket: Socket) => void): Promise<void> {
  const end = () => void socket.destroy()
  attack.signal.addEventListener('abort', end)
  try {
    await new Promise<void>((resolve) => {
      socket.once('connect', () => use(socket))
      socket.on('error', (error) => attack.tally.missed(error, attack.signal))
      socket.once('close', () => resolve())
    })
  } finally {
    attack.signal.removeEventListener('abort', end)
  }
}

/** Where a service is for local programs; a legacy node has one alone. */
const placeOf = ({ target }: Attack, kind: string) =>
  target.kind === 'mesh' ? { path: socketPath(`attack-${kind}`) } : { host: '127.0.0.1', port: PORTS.legacy }

/** A local program with a connection to a service, which it opens again when it closes. */
function runClient(attack: Attack, kind: string, { isRead = false }: Deed): Promise<void> {
  return overAndOver(
    attack,
    () =>
      useSocket(attack, connect(placeOf(attack, kind)), (socket) => {
        if (isRead || kind === 'wrong') socket.resume()
        socket.write('hello')
        // what is never taken, and then an end
        if (kind === 'halves') socket.resume().end(Buffer.alloc(MB))
      }),
    200,
  )
}

/** Says something to the other service, over and over, and counts the times when that took too long. */
function echoOver(attack: Attack): Promise<void> {
  const { tally, signal } = attack
  return overAndOver(
    attack,
    async () => {
      const began = performance.now()
      let isAnswered = false
      await useSocket(attack, connect({ path: socketPath('attack-echo') }), (socket) => {
        socket.write(framed(Buffer.from('echo')))
        socket.setTimeout(ECHO_MS, () => socket.destroy())
        socket.once('data', () => {
          isAnswered = true
          socket.end()
          socket.destroy()
        })
      })
      if (signal.aborted) return
      tally.count('echoes')
      if (!isAnswered || performance.now() - began > ECHO_MS) tally.count('late echoes')
    },
    100,
  )
}

/** Sends datagrams to a service from as many sockets as it has connections of others. */
async function sendDatagrams(attack: Attack): Promise<void> {
  const sockets = Array.from({ length: CLIENTS }, () => createSocket('udp4').on('error', () => {}))
  while (!attack.signal.aborted) {
    for (const socket of sockets) socket.send('hello', PORTS.datagrams, '127.0.0.1')
    await pause(500, attack.signal)
  }
  for (const socket of sockets) socket.close()
}

async function lateEchoes({ tally, target }: Attack): Promise<string | undefined> {
  // a legacy node is connected to no other service
  if (target.kind === 'legacy') return undefined
  const [all, late] = [tally.of('echoes'), tally.of('late echoes')]
  return late > 0 || all === 0
    ? `${late} of ${all} connections to another service were not served`
    : undefined
}

/** A local program that asks for a page through the proxy, and again when the connection closes. */
function runBrowser(attack: Attack, kind: string, { isRead = false }: Deed): Promise<void> {
  const request =
    kind === 'body'
      ? `CONNECT ${kind}.test:80 HTTP/1.1\r\nHost: ${kind}.test\r\n\r\nGET / HTTP/1.1\r\n\r\n`
      : `GET http://${kind}.test/ HTTP/1.1\r\nHost: ${kind}.test\r\n\r\n`
  return overAndOver(
    attack,
    () =>
      useSocket(attack, connect({ host: '127.0.0.1', port: PORTS.proxy }), (socket) => {
        attack.tally.count('requests')
        socket.write(request)
        if (!isRead) return
        // one answer after the other on one connection
        socket.on('data', (bytes: Buffer) => {
          if (bytes.includes('HTTP/1.1 200')) socket.write(request)
        })
      }),
    200,
  )
}

export const CLIENT_ATTACKS: readonly Scenario[] = [
  {
    name: 'false-services',
    who: 'member',
    does: `local programs open ${CLIENTS} connections to each of ${Object.keys(SERVICES).length + 1} services whose providers say nothing, answer byte by byte or what is no answer, send for ever to who does not read, in small pieces too, end half of it, and reset`,
    boundedBy: 'LOCAL_UNWRITTEN_BYTES, LEAST_PIECE_BYTES, UNREAD_BYTES, ANSWER_MS, LOCAL_CONNECTIONS',
    legacy: { command: ['service-connect', LEGACY_NAME, `127.0.0.1:${PORTS.legacy}`] },
    aim: 'streams',
    isApart: true,
    victimArgs: [
      ...SERVICE_NAMES.map((name) => `--service-connect=${name}=unix:${socketPath(name)}`),
      `--service-connect=attack-datagrams=udp:127.0.0.1:${PORTS.datagrams}`,
    ],
    prepare: (attack) => (attack.target.kind === 'mesh' ? offerServices(attack) : offerLegacyService(attack)),
    async run(attack) {
      const kinds = Object.entries(SERVICES)
      const others = attack.target.kind === 'mesh' ? [echoOver(attack), sendDatagrams(attack)] : []
      await Promise.all([
        ...others,
        ...kinds.map(([kind, deed]) => afterEachOther(attack, CLIENTS, () => runClient(attack, kind, deed))),
      ])
    },
    reached: lateEchoes,
  },
  {
    name: 'false-origins',
    who: 'member',
    does: `the node's proxy leaves through a member that answers ${REQUESTS} requests of each kind itself: interim answers, headers, trailers, chunks of a byte and bodies without end to who does not read, thousands of names in one header, another protocol, nothing`,
    boundedBy:
      'MAX_INTERIM_ANSWERS, MAX_HTTP_HEAD_BYTES, LOCAL_UNWRITTEN_BYTES, UNREAD_BYTES, LOCAL_CONNECTIONS',
    legacy: { command: ['proxy'], flags: [`--listen=127.0.0.1:${PORTS.proxy}`] },
    aim: 'requests',
    isApart: true,
    victimArgs: [`--proxy=127.0.0.1:${PORTS.proxy}`],
    prepare: (attack) =>
      provide(attack, {
        protocol: EGRESS[attack.target.kind],
        entry: ({ peerId }) => ['egress', peerId, 'ok'],
        serve(stream) {
          let kind: string | undefined
          stream.addEventListener('message', ({ data }) => {
            if (kind !== undefined) return
            const asked = Buffer.from(data.subarray()).toString('latin1')
            kind = Object.keys(ORIGINS).find((each) => asked.includes(`${each}.test`)) ?? ''
            const deed = ORIGINS[kind]
            attack.tally.count('streams')
            if (deed === undefined) return
            // the first that comes to a legacy member is the request itself
            if (attack.target.kind === 'legacy') return begin(attack, deed, stream)
            stream.send(OK)
            serve(attack, deed, stream, (bytes) => Buffer.from(bytes).includes('GET '))
          })
        },
      }),
    async run(attack) {
      const kinds = Object.entries(ORIGINS)
      await Promise.all(
        kinds.map(([kind, deed]) => afterEachOther(attack, REQUESTS, () => runBrowser(attack, kind, deed))),
      )
    },
  },
]
