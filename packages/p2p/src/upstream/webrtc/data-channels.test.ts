import { generateKeyPair } from '@libp2p/crypto/keys'
import { webRTCDirect } from '@libp2p/webrtc'
import { systemClock } from '@mesh/core'
import { freePort } from '@mesh/testkit'
import { createLibp2p } from 'libp2p'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { CHANNEL_MESSAGES, MAX_CHANNEL_FLAGS, MAX_FRAMES_IN_CHANNEL_MESSAGE } from '../limits.ts'
import { boundDataChannels, FrameWalk } from './data-channels.ts'
import { holdWebRtcLibrary } from './library.ts'

afterAll(holdWebRtcLibrary())
boundDataChannels(systemClock)

interface Muxed {
  readonly muxer: { readonly peerConnection: globalThis.RTCPeerConnection }
}

async function startHost(listen: readonly string[]) {
  const host = await createLibp2p({
    privateKey: await generateKeyPair('Ed25519'),
    addresses: { listen: [...listen] },
    transports: [webRTCDirect({ rtcConfiguration: { iceServers: [] } })],
    connectionMonitor: { enabled: false },
  })
  onTestFinished(() => host.stop())
  return host
}

/** A data channel of a stranger's connection to a host, and the errors that nobody catches meanwhile. */
async function openChannel() {
  const uncaught: unknown[] = []
  const note = (error: unknown) => uncaught.push(error)
  process.on('unhandledRejection', note)
  onTestFinished(() => void process.off('unhandledRejection', note))
  const [host, stranger] = await Promise.all([
    startHost([`/ip4/127.0.0.1/udp/${await freePort()}/webrtc-direct`]),
    startHost([]),
  ])
  const connection = await stranger.dial(host.getMultiaddrs())
  const { peerConnection } = (connection as unknown as Muxed).muxer
  const channel = peerConnection.createDataChannel('')
  const heard: number[] = []
  channel.addEventListener('message', ({ data }: { readonly data?: unknown }) =>
    heard.push((data as ArrayBuffer).byteLength),
  )
  const closed = new Promise((resolve) => channel.addEventListener('close', resolve))
  await new Promise((resolve) => channel.addEventListener('open', resolve))
  return { channel, closed, heard, uncaught }
}

test.each(['-1', '1000000000'])(
  'the text %s, which the library takes for a length, ends its channel and nothing else',
  async (text) => {
    const { channel, closed, uncaught } = await openChannel()
    channel.send(text)
    await closed
    expect(uncaught).toEqual([])
  },
)

test('a channel on which messages come faster than any stream needs is closed', () => {
  const connection = new RTCPeerConnection()
  onTestFinished(() => connection.close())
  const channel = connection.createDataChannel('')
  let [heard, isClosed] = [0, false]
  channel.addEventListener('message', () => heard++)
  channel.close = () => void (isClosed = true)
  const send = () => channel.dispatchEvent(new MessageEvent('message', { data: Uint8Array.of(1, 0).buffer }))
  while (!isClosed) send()
  expect(heard).toBeGreaterThanOrEqual(CHANNEL_MESSAGES.burst)
  const before = heard
  send()
  expect(heard).toBe(before)
})

/** A frame that says that a stream has ended. */
const FIN = [2, 1 << 3, 0]

test('a message with more frames than may be ends its channel, and none of them is answered', async () => {
  const { channel, closed, heard } = await openChannel()
  channel.send(Uint8Array.from(Array.from({ length: MAX_FRAMES_IN_CHANNEL_MESSAGE + 1 }, () => FIN).flat()))
  await closed
  expect(heard).toEqual([])
})

test('a stream that ends over and over is answered a few times', async () => {
  const { channel, closed, heard } = await openChannel()
  channel.send(Uint8Array.from(Array.from({ length: MAX_FRAMES_IN_CHANNEL_MESSAGE }, () => FIN).flat()))
  await closed
  // the length goes ahead of each
  expect(heard.filter((bytes) => bytes === FIN.length - 1)).toHaveLength(MAX_CHANNEL_FLAGS)
})

test('frames go over from message to message, and may be as many as there are messages', () => {
  const walk = new FrameWalk()
  const frame = Uint8Array.of(0x80 | 16, 39, ...new Uint8Array(39 * 128 + 16))
  for (let at = 0; at < 100; at++) {
    const cut = (at * 37) % frame.length
    expect(walk.take(frame.subarray(0, cut))).toBe(true)
    expect(walk.take(frame.subarray(cut))).toBe(true)
  }
  expect(walk.take(new Uint8Array(MAX_FRAMES_IN_CHANNEL_MESSAGE))).toBe(true)
  expect(walk.take(new Uint8Array(MAX_FRAMES_IN_CHANNEL_MESSAGE + 1))).toBe(false)
  expect(walk.take(Uint8Array.of(1))).toBe(false)
})

test('a length that does not end is none', () => {
  expect(new FrameWalk().take(Uint8Array.of(0xff, 0xff, 0xff, 0xff, 0xff))).toBe(false)
})
