/** Raw libp2p peers: nothing of mesh in them, so that they can say what no node would. */
import { randomBytes } from 'node:crypto'
import { generateKeyPairFromSeed } from '@libp2p/crypto/keys'
import { type Identify, identify } from '@libp2p/identify'
import type { Connection, IdentifyResult, Libp2p, Stream } from '@libp2p/interface'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { webRTCDirect } from '@libp2p/webrtc'
import { yamux } from '@libp2p/yamux'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import type { Attack, PeerInit } from './scenario.ts'
import type { AttackTarget } from './scenario.ts'
import { pause } from './until-true.ts'

/** How patient an attacker is, in ms: on a busy machine its own haste must not pass for the victim's defence. */
const PATIENCE_MS = 30_000

export async function createPeer(init: PeerInit = {}): Promise<Libp2p> {
  const { seed = randomBytes(32), from, listen, hasWebRtc = false } = init
  const dialOpts = from === undefined ? {} : { dialOpts: { localAddress: from } as never }
  return await createLibp2p({
    privateKey: await generateKeyPairFromSeed('Ed25519', seed),
    addresses: { listen: listen === undefined ? [] : [listen] },
    transports: [tcp(dialOpts), ...(hasWebRtc ? [webRTCDirect()] : [])],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux({ maxOutboundStreams: 100_000 } as never)],
    connectionMonitor: { enabled: false },
    connectionManager: {
      reconnectRetries: 0,
      maxConnections: 10_000,
      dialTimeout: PATIENCE_MS,
      addressDialTimeout: PATIENCE_MS,
      outboundStreamProtocolNegotiationTimeout: PATIENCE_MS,
    },
    services: { identify: identify({ runOnConnectionOpen: false, runOnLimitedConnection: false }) },
  } as never)
}

export function dialTarget(
  peer: Libp2p,
  { address }: AttackTarget,
  signal: AbortSignal,
): Promise<Connection> {
  return peer.dial(multiaddr(address), { signal: patient(signal) })
}

/** What the victim says that it is, asked by a stranger. */
export async function identityOf({ peer, target, signal }: Attack): Promise<IdentifyResult> {
  const stranger = await peer()
  return await identifyOn(stranger, await dialTarget(stranger, target, signal))
}

export async function identifyOn(peer: Libp2p, connection: Connection): Promise<IdentifyResult> {
  const { identify: service } = peer.services as unknown as { readonly identify: Identify }
  return await service.identify(connection)
}

/** Tries again and again until the time is over; why a try failed is told, and the next one follows after a pause. */
export async function overAndOver(attack: Attack, attempt: () => Promise<void>, restMs = 50): Promise<void> {
  const { signal, tally } = attack
  while (!signal.aborted) {
    try {
      await attempt()
    } catch (error) {
      tally.missed(error, signal)
    }
    await pause(restMs, signal)
  }
}

/** The same for several attackers at a time. */
export async function together(count: number, attacker: (at: number) => Promise<void>): Promise<void> {
  await Promise.all(Array.from({ length: count }, (_, at) => attacker(at)))
}

/** Until it is disposed of, what an attack leaves under way may fail once the signal is aborted, and the process goes on. */
export function leaveUnderWay(signal: AbortSignal): Disposable {
  const onRejection = (error: unknown) => {
    if (!signal.aborted) throw error
  }
  process.on('unhandledRejection', onRejection)
  return { [Symbol.dispose]: () => void process.off('unhandledRejection', onRejection) }
}

/** Dials as `dialTarget` does; a peer that could not is stopped, so that those of many tries are not in each other's way. */
export async function dialOrStop(
  peer: Libp2p,
  target: AttackTarget,
  signal: AbortSignal,
): Promise<Connection> {
  try {
    return await dialTarget(peer, target, signal)
  } catch (error) {
    await peer.stop()
    throw error
  }
}

/** Opens a stream on which much may be outstanding at a time. */
export function openStream(connection: Connection, protocol: string, signal: AbortSignal): Promise<Stream> {
  return connection.newStream(protocol, { signal: patient(signal), maxOutboundStreams: 100_000 })
}

const line = (text: string) => framed(Buffer.from(`${text}\n`))

/**
 * Opens a stream whose negotiation and first bytes are one block, so that they are there before the victim can refuse. What the
 * victim says begins with its own two lines of the negotiation.
 */
export async function openWith(connection: Connection, protocol: string, first: Uint8Array): Promise<Stream> {
  const { muxer } = connection as unknown as { readonly muxer?: { createStream(): Promise<Stream> } }
  if (muxer === undefined) throw new Error('a connection without a muxer')
  const stream = await muxer.createStream()
  stream.send(Buffer.concat([line('/multistream/1.0.0'), line(protocol), first]))
  return stream
}

/** Ends with the attack, or when one step of it took too long: a victim that never answers must not end the attack. */
function patient(signal: AbortSignal): AbortSignal {
  return AbortSignal.any([signal, AbortSignal.timeout(PATIENCE_MS)])
}

/** Sends all of it, as fast as the other side takes it; false when the stream ended or the signal aborted first. */
export async function sendAll(stream: Stream, bytes: Uint8Array, signal: AbortSignal): Promise<boolean> {
  return (await sendMuch(stream, bytes, signal)) === bytes.length && stream.status === 'open'
}

/** Sends as `sendAll` does, and gives how many bytes went out. */
export async function sendMuch(stream: Stream, bytes: Uint8Array, signal: AbortSignal): Promise<number> {
  const STEP = 64 * 1024
  for (let at = 0; at < bytes.length; at += STEP) {
    if (signal.aborted || stream.status !== 'open') return at
    try {
      if (!stream.send(bytes.subarray(at, at + STEP))) await drained(stream, signal)
    } catch {
      return at
    }
  }
  return bytes.length
}

/** Sends the same again and again, until the stream ends. @param send false once it has ended */
export async function sendForEver(
  bytes: Uint8Array,
  send: (bytes: Uint8Array) => Promise<boolean>,
): Promise<void> {
  while (await send(bytes));
}

function drained(stream: Stream, signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      stream.removeEventListener('drain', done)
      stream.removeEventListener('close', done)
      signal.removeEventListener('abort', done)
      resolve()
    }
    stream.addEventListener('drain', done)
    stream.addEventListener('close', done)
    signal.addEventListener('abort', done)
    if (signal.aborted) done()
  })
}

/** A length as the varint that stands before libp2p's messages. */
export function varint(value: number): Uint8Array {
  const bytes: number[] = []
  let rest = value
  while (rest >= 0x80) {
    bytes.push((rest % 0x80) | 0x80)
    rest = Math.floor(rest / 0x80)
  }
  bytes.push(rest)
  return Uint8Array.from(bytes)
}

export function framed(message: Uint8Array): Uint8Array {
  return Buffer.concat([varint(message.length), message])
}

/** Tells each whole frame that comes on a stream. */
export function onFrames(stream: Stream, tell: (frame: Uint8Array) => void): void {
  let received = Buffer.alloc(0)
  stream.addEventListener('message', ({ data }) => {
    received = Buffer.concat([received, data.subarray()])
    for (;;) {
      const [length, at] = readVarint(received)
      if (length === undefined || received.length < at + length) return
      const frame = received.subarray(at, at + length)
      received = received.subarray(at + length)
      tell(frame)
    }
  })
}

/** The number, undefined while it is not whole, and where it ends. */
function readVarint(bytes: Uint8Array): readonly [number | undefined, number] {
  let value = 0
  for (const [at, byte] of bytes.subarray(0, 5).entries()) {
    value += (byte & 0x7f) * 2 ** (7 * at)
    if (byte < 0x80) return [value, at + 1]
  }
  return [undefined, 0]
}
