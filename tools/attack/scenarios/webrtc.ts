/** Attacks by what WebRTC takes from anybody: packets before any connection, what is signalled, and data channels. */
import { randomBytes } from 'node:crypto'
import { createSocket, type Socket } from 'node:dgram'
import type { Connection, Libp2p } from '@libp2p/interface'
import { multiaddr } from '@multiformats/multiaddr'
import { dialTarget, framed, identityOf, onFrames, openWith, overAndOver, together } from '../attackers.ts'
import { errorChain } from '../error-chain.ts'
import { beMember, connectMember } from '../membership.ts'
import type { Attack, Scenario } from '../scenario.ts'
import { RefusedError, WebRtcError } from '../tally.ts'
import { pause, untilTrue } from '../until-true.ts'

/** Has a victim listen for WebRTC; on one machine each attack needs a port of its own. */
const listensAt = (port: number) => [`--listen-maddrs=/ip4/127.0.0.1/udp/${port}/webrtc-direct`]
const SIGNALLING = '/webrtc-signaling/0.0.1'
/** Types of the signalling's messages. */
const [OFFER, CANDIDATE] = [0, 2]
/** What a message of the signalling begins with, and no line of the negotiation. */
const TYPE_TAG = 8
const READY_MS = 30_000

/** A question of STUN under a user name that nobody has used before. */
function stunQuestion(): Uint8Array {
  const name = randomBytes(16).toString('hex')
  const user = Buffer.from(`${name}:${name}`)
  const padded = Buffer.concat([user, Buffer.alloc((4 - (user.length % 4)) % 4)])
  // nobody checks it before a connection is begun
  const integrity = Buffer.concat([Buffer.from([0, 8, 0, 20]), randomBytes(20)])
  const head = Buffer.alloc(20)
  head.writeUInt16BE(1, 0)
  head.writeUInt16BE(4 + padded.length + integrity.length, 2)
  head.writeUInt32BE(0x2112_a442, 4)
  randomBytes(12).copy(head, 8)
  const attribute = Buffer.alloc(4)
  attribute.writeUInt16BE(6, 0)
  attribute.writeUInt16BE(user.length, 2)
  return Buffer.concat([head, attribute, padded, integrity])
}

/** A socket of UDP that ends with the attack, and counts what comes to it. */
async function openSocket({ signal, tally }: Attack, counted: string): Promise<Socket> {
  const socket = createSocket('udp4')
  socket.on('message', () => tally.count(counted))
  socket.on('error', (error) => tally.missed(error, signal))
  await new Promise<void>((resolve) => socket.bind(0, '127.0.0.1', resolve))
  signal.addEventListener('abort', () => socket.close())
  return socket
}

/** Where the victim listens for WebRTC, with the hash of its certificate; of a legacy node only identify tells. */
async function webRtcAddress(attack: Attack): Promise<string> {
  const { target } = attack
  return await untilTrue(READY_MS, async () => {
    const text =
      target.kind === 'mesh'
        ? await (await fetch(`${target.url}/api/reachability`)).text()
        : (await identityOf(attack)).listenAddrs.map((each) => `${each}/p2p/${target.id}`).join(' ')
    return /\/ip4\/127\.0\.0\.1\/udp\/\d+\/webrtc-direct\/certhash\/[\w-]+(\/p2p\/\w+)?/.exec(text)?.[0]
  })
}

/** A data channel, of the library below WebRTC. */
interface DataChannel {
  readonly readyState: string
  readonly bufferedAmount: number
  send(message: string | Uint8Array): void
  addEventListener(type: 'message' | 'close', listener: () => void): void
}

interface Muxed {
  readonly muxer?: { readonly peerConnection?: { createDataChannel(label: string): DataChannel } }
}

/** Words of the library's errors by which the other side shows that it ended the channel or its connection. */
const ENDED = /is closed|errno=(?:32|104)|destroyed|is not 'open'/
/** Words by which its other errors are told: they have no names of their own. */
const OF_LIBRARY = /libdatachannel|peer ?connection|data ?channel|RTC|InvalidState/i

/** An error on a connection of WebRTC: what the library below it throws, as an error of the attack, and others as they are. */
export function webRtcFault(error: unknown): unknown {
  const words = errorChain(error).map(({ name, message }) => `${name}: ${message}`)
  const last = words.at(-1) ?? ''
  if (!OF_LIBRARY.test(last)) return error
  return ENDED.test(last)
    ? new RefusedError('the channel was ended', { cause: error })
    : new WebRtcError('the library failed', { cause: error })
}

function byLibrary<T>(act: () => T): T {
  try {
    return act()
  } catch (error) {
    throw webRtcFault(error)
  }
}

/** Sends a message, and counts it. */
function sendOn({ tally }: Attack, channel: DataChannel, message: string | Uint8Array): void {
  byLibrary(() => channel.send(message))
  tally.count(typeof message === 'string' ? 'texts' : 'messages')
}

/** Dials over WebRTC. */
async function dialWebRtc(peer: Libp2p, address: string, signal: AbortSignal): Promise<Connection> {
  try {
    return await peer.dial(multiaddr(address), { signal })
  } catch (error) {
    throw webRtcFault(error)
  }
}

/** Opens data channels on one connection after the other, of a stranger or a member, and sends on each as `send` does. */
async function overChannels(
  attack: Attack,
  send: (channel: DataChannel, connection: Connection) => Promise<void>,
  who: Scenario['who'] = 'stranger',
): Promise<void> {
  const { signal, tally } = attack
  const address = await webRtcAddress(attack)
  await overAndOver(attack, async () => {
    const peer = await attack.peer({ hasWebRtc: true })
    try {
      const connection = await dialWebRtc(peer, address, signal)
      if (who === 'member') await beMember(attack, { connection, self: peer.peerId })
      tally.count('connections')
      while (!signal.aborted && connection.status === 'open') {
        const { peerConnection } = (connection as unknown as Muxed).muxer ?? {}
        const channel = byLibrary(() => peerConnection?.createDataChannel(''))
        for (let waited = 0; channel?.readyState === 'connecting' && waited < 100; waited++)
          await pause(20, signal)
        if (channel?.readyState !== 'open') break
        channel.addEventListener('message', () => tally.count('answers'))
        tally.count('channels')
        await send(channel, connection)
      }
      await connection.close()
    } finally {
      await peer.stop()
    }
  })
}

/** Sends messages of one byte, as many as go out. */
async function sendShort(attack: Attack, channel: DataChannel): Promise<void> {
  const { signal } = attack
  const message = Uint8Array.of(0)
  while (channel.readyState === 'open' && !signal.aborted) {
    for (let at = 0; at < 500 && channel.readyState === 'open'; at++) sendOn(attack, channel, message)
    await pause(channel.bufferedAmount > 20_000 ? 5 : 0, signal)
  }
}

/** A message of the signalling. */
function signalled(type: number, text: string): Uint8Array {
  const body = Buffer.from(text)
  const length = Uint8Array.of((body.length & 0x7f) | 0x80, body.length >> 7)
  return framed(Buffer.concat([Uint8Array.of(TYPE_TAG, type, 0x12), length, body]))
}

/** An offer that any WebRTC peer could make. */
function offer(): string {
  const digits = Array.from(randomBytes(32), (byte) => byte.toString(16).padStart(2, '0').toUpperCase())
  return [
    'v=0',
    'o=rtc 1 0 IN IP4 127.0.0.1',
    's=-',
    't=0 0',
    'a=group:BUNDLE 0',
    'a=msid-semantic:WMS *',
    'a=ice-options:ice2,trickle',
    `a=fingerprint:sha-256 ${digits.join(':')}`,
    'm=application 9 UDP/DTLS/SCTP webrtc-datachannel',
    'c=IN IP4 0.0.0.0',
    'a=mid:0',
    'a=sendrecv',
    'a=sctp-port:5000',
    'a=max-message-size:262144',
    'a=setup:actpass',
    `a=ice-ufrag:${randomBytes(4).toString('hex')}`,
    `a=ice-pwd:${randomBytes(16).toString('hex')}`,
    '',
  ].join('\r\n')
}

const candidate = (at: number, node: string, port: number) =>
  JSON.stringify({
    candidate: `candidate:${at} 1 UDP ${2_000_000_000 - at} ${node} ${port} typ host`,
    sdpMid: '0',
  })

/** Begins one connection after the other, none of which comes about: each names others as the way to it. */
async function signalOn(attack: Attack, connection: Connection, ports: readonly number[]): Promise<void> {
  const { signal, tally } = attack
  while (!signal.aborted && connection.status === 'open') {
    const nodes = ports.map((port) => ['127.0.0.1', port] as const)
    const names = ports.map(() => [`${randomBytes(8).toString('hex')}.invalid`, 9] as const)
    const candidates = [...nodes, ...names].map(([node, port], at) => candidate(at, node, port))
    const stream = await openWith(
      connection,
      SIGNALLING,
      Buffer.concat([signalled(OFFER, offer()), ...candidates.map((each) => signalled(CANDIDATE, each))]),
    )
    onFrames(stream, (frame) => {
      if (frame[0] === TYPE_TAG) tally.count('answers')
    })
    tally.count('offers')
    await pause(5, signal)
  }
}

async function signalTo(attack: Attack, connect: () => Promise<Connection>): Promise<void> {
  const others = await Promise.all(
    Array.from({ length: 20 }, () => openSocket(attack, 'packets to third parties')),
  )
  const ports = others.map((socket) => socket.address().port)
  await together(8, () => overAndOver(attack, async () => await signalOn(attack, await connect(), ports)))
}

export const WEBRTC_ATTACKS: readonly Scenario[] = [
  {
    name: 'stun-questions',
    who: 'stranger',
    does: 'questions of STUN to the port for WebRTC, each under a name of its own, 2,000 a second from 8 sockets',
    boundedBy: 'PENDING_WEBRTC',
    legacy: { flags: listensAt(41_837) },
    aim: 'questions',
    needs: listensAt(41_837),
    async run(attack) {
      const { signal, tally } = attack
      const port = Number(/\/udp\/(\d+)/.exec(await webRtcAddress(attack))?.[1])
      await together(8, async () => {
        const socket = await openSocket(attack, 'packets back')
        while (!signal.aborted) {
          for (let at = 0; at < 5; at++) {
            socket.send(stunQuestion(), port, '127.0.0.1')
            tally.count('questions')
          }
          await pause(20, signal)
        }
      })
    },
  },
  {
    name: 'channel-texts',
    who: 'stranger',
    does: 'messages of text, where there are bytes alone, on data channels of WebRTC: numbers that are taken for lengths',
    boundedBy: 'a message of text ends its channel',
    legacy: { flags: listensAt(41_838) },
    aim: 'texts',
    needs: listensAt(41_838),
    run: (attack) =>
      overChannels(attack, async (channel) => {
        for (const text of ['1000000000', '-1']) {
          sendOn(attack, channel, text)
          await pause(100, attack.signal)
        }
      }),
  },
  {
    name: 'channel-frames',
    who: 'stranger',
    does: 'messages of 16 KiB on data channels of WebRTC that hold thousands of frames, each of which is answered',
    boundedBy: 'MAX_FRAMES_IN_CHANNEL_MESSAGE, MAX_CHANNEL_FLAGS',
    legacy: { flags: listensAt(41_839) },
    aim: 'messages',
    needs: listensAt(41_839),
    run: (attack) =>
      together(4, () =>
        overChannels(attack, async (channel) => {
          // a frame of two bytes, which says that nothing more comes
          const message = Buffer.concat(Array.from({ length: 5_400 }, () => Uint8Array.of(2, 8, 0)))
          for (let at = 0; at < 200 && channel.readyState === 'open' && !attack.signal.aborted; at++) {
            sendOn(attack, channel, message)
            while (
              channel.bufferedAmount > 1 << 20 &&
              channel.readyState === 'open' &&
              !attack.signal.aborted
            )
              await pause(5, attack.signal)
          }
          await pause(20, attack.signal)
        }),
      ),
  },
  {
    name: 'channel-messages',
    who: 'stranger',
    does: 'messages of one byte, as many as go out, on 4 connections of WebRTC',
    boundedBy: 'UNPROVEN_CHANNEL_MESSAGES, CHANNEL_MESSAGES',
    legacy: { flags: listensAt(41_840) },
    aim: 'messages',
    needs: listensAt(41_840),
    run: (attack) => together(4, () => overChannels(attack, (channel) => sendShort(attack, channel))),
  },
  {
    name: 'member-channel-messages',
    who: 'member',
    does: 'the same from 4 connections of members',
    boundedBy: 'CHANNEL_MESSAGES, CONNECTION_CHANNEL_MESSAGES',
    legacy: { flags: listensAt(41_841) },
    aim: 'messages',
    needs: listensAt(41_841),
    run: (attack) =>
      together(4, () => overChannels(attack, (channel) => sendShort(attack, channel), 'member')),
  },
  {
    name: 'stranger-signalling',
    who: 'stranger',
    does: 'begins WebRTC connections that never come about, on 8 connections, and names 20 third parties and 20 names as the way to each',
    boundedBy: 'who is no member signals only over a relay',
    legacy: { meaningless: 'no signalling of WebRTC' },
    aim: 'offers',
    needs: listensAt(41_842),
    run: (attack) =>
      signalTo(attack, async () => await dialTarget(await attack.peer(), attack.target, attack.signal)),
  },
  {
    name: 'member-signalling',
    who: 'member',
    does: 'the same from 8 keys of a member',
    boundedBy: 'PENDING_WEBRTC, MAX_CANDIDATES',
    legacy: { meaningless: 'no signalling of WebRTC' },
    aim: 'offers',
    needs: listensAt(41_843),
    run: (attack) => signalTo(attack, async () => (await connectMember(attack)).connection),
  },
]
