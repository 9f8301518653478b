import { createSocket } from 'node:dgram'
import { randomBytes } from 'node:crypto'
import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, Stream, Transport } from '@libp2p/interface'
import { webRTC, webRTCDirect } from '@libp2p/webrtc'
import { systemClock } from '@mesh/core'
import { eventually, freePort } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { PENDING_WEBRTC } from '../limits.ts'
import { boundDirectConnections, boundSignalling, PendingWebRtc } from './pending-connections.ts'
import { holdWebRtcLibrary } from './library.ts'

afterAll(holdWebRtcLibrary())

test('what is under way is bounded by address and in all, and what has ended makes way', async () => {
  const pending = new PendingWebRtc()
  const ends: (() => void)[] = []
  const begin = (address: string) => {
    const { promise, resolve } = Promise.withResolvers<void>()
    ends.push(resolve)
    return pending.run(address, () => promise)
  }
  const refused: string[] = []
  const tell = (address: string) => void begin(address).then((done) => done || refused.push(address))
  for (let at = 0; at < PENDING_WEBRTC.perAddress + 3; at++) tell('192.0.2.1')
  await eventually(() => expect(refused).toHaveLength(3))
  for (const end of ends.splice(0)) end()
  for (let at = 0; at < PENDING_WEBRTC.all; at++) tell(`192.0.2.${at}`)
  tell('198.51.100.1')
  await eventually(() => expect(refused.at(-1)).toBe('198.51.100.1'))
  ends[0]?.()
  await eventually(async () => expect(await pending.run('198.51.100.1', async () => {})).toBe(true))
  await pending.run('198.51.100.1', () => Promise.reject(new Error('broke'))).catch(() => {})
  expect(await pending.run('198.51.100.1', async () => {})).toBe(true)
})

test('where a few addresses have all that is under way, one of it makes way for another address', async () => {
  const pending = new PendingWebRtc()
  const madeWay: string[] = []
  const begin = (address: string) =>
    pending.run(
      address,
      (signal) =>
        new Promise<void>((resolve) => {
          signal.addEventListener('abort', () => {
            madeWay.push(address)
            resolve()
          })
        }),
    )
  for (let at = 0; at < PENDING_WEBRTC.all; at++) void begin(`192.0.2.${1 + (at % 2)}`)
  let isRefused = false
  void begin('198.51.100.1').then((done) => (isRefused = !done))
  await eventually(() => expect(madeWay).toHaveLength(1))
  expect(isRefused).toBe(false)
})

/** A question of STUN under a user name of its own, as the first packet of a WebRTC connection is. */
function stunQuestion(): Uint8Array {
  const name = randomBytes(16).toString('hex')
  // of 64 bytes, with a colon
  const user = Buffer.from(`${name}:${name.slice(1)}`)
  const integrity = Buffer.from([0, 8, 0, 20, ...randomBytes(20)])
  const length = 4 + user.length + integrity.length
  const head = Buffer.from([0, 1, 0, length, 0x21, 0x12, 0xa4, 0x42, ...randomBytes(12)])
  return Buffer.concat([head, Buffer.from([0, 6, 0, user.length]), user, integrity])
}

test('packets from one address begin no more connections than it may have', async () => {
  const pending = new PendingWebRtc()
  let begun = 0
  let asked = 0
  const host = await createLibp2p({
    privateKey: await generateKeyPair('Ed25519'),
    addresses: { listen: [`/ip4/127.0.0.1/udp/${await freePort()}/webrtc-direct`] },
    transports: [
      (components) => {
        const transport: Transport = webRTCDirect({ rtcConfiguration: { iceServers: [] } })(components)
        countBeginnings(transport, () => begun++)
        boundDirectConnections(transport, pending, systemClock)
        countBeginnings(transport, () => asked++)
        return transport
      },
    ],
    connectionMonitor: { enabled: false },
  })
  onTestFinished(() => host.stop())
  const port = Number(/udp\/(\d+)/.exec(String(host.getMultiaddrs()[0]))?.[1])
  const socket = createSocket('udp4')
  onTestFinished(() => void socket.close())
  for (let at = 0; at < 3 * PENDING_WEBRTC.all; at++) socket.send(stunQuestion(), port, '127.0.0.1')
  await eventually(() => expect(asked).toBeGreaterThan(PENDING_WEBRTC.all))
  expect(begun).toBe(PENDING_WEBRTC.perAddress)
})

/** Counts the connections that packets begin at the listeners which a transport makes from now on. */
function countBeginnings(transport: Transport, count: () => void): void {
  const createListener = transport.createListener.bind(transport)
  transport.createListener = (options) => {
    const listener = createListener(options) as unknown as {
      incomingConnection(...of: unknown[]): Promise<void>
    }
    const begin = listener.incomingConnection.bind(listener)
    listener.incomingConnection = (...of) => {
      count()
      return begin(...of)
    }
    return listener as never
  }
}

/** The part of the transport that a stream of signalling reaches. */
interface Signalling extends Transport {
  _onProtocol(stream: Stream, connection: Connection, signal: AbortSignal): Promise<void>
}

test('who may not signal, or has begun too much, begins nothing', async () => {
  const transport = webRTC()({
    logger: { forComponent: () => ({}) },
    registrar: {},
  } as never) as unknown as Signalling
  expect(transport._onProtocol).toBeInstanceOf(Function)
  let begun = 0
  transport._onProtocol = () => {
    begun++
    return new Promise(() => {})
  }
  const bounded = boundSignalling(transport, {
    pending: new PendingWebRtc(),
    maySignal: ({ remotePeer }) => String(remotePeer) === 'member',
  })
  let aborted = 0
  const stream = { abort: () => aborted++ } as unknown as Stream
  const signal = (remotePeer: string) => {
    const connection = { remotePeer, remoteAddr: multiaddr('/ip4/192.0.2.1/tcp/1') }
    void bounded._onProtocol(stream, connection as unknown as Connection, AbortSignal.timeout(10_000))
  }
  signal('stranger')
  await eventually(() => expect([begun, aborted]).toEqual([0, 1]))
  for (let at = 0; at < PENDING_WEBRTC.all; at++) signal('member')
  await eventually(() => expect(begun + aborted).toBe(PENDING_WEBRTC.all + 1))
  expect(begun).toBe(PENDING_WEBRTC.perAddress)
})
