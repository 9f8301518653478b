import { systemClock } from '@mesh/core'
import { DataChannel, PeerConnection } from 'node-datachannel'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { afterAll, expect, onTestFinished, test } from 'vitest'
import { boundDataChannels } from './data-channels.ts'
import { holdWebRtcLibrary } from './library.ts'
import { closeNow, readBeforeEnds, withNativeConnection } from './close-order.ts'

afterAll(holdWebRtcLibrary())
boundDataChannels(systemClock)
readBeforeEnds()

const COUNT = 300
/** A message of one frame, of 1,000 bytes in all: others are refused. */
const MESSAGE = Uint8Array.of(0xe6, 0x07, ...new Uint8Array(998))

/** Holds the event loop up, as other work does, until the native library's threads have come so far. */
function holdUntil(isDone: () => boolean): void {
  const cell = new Int32Array(new SharedArrayBuffer(4))
  for (let tries = 0; !isDone(); tries++) {
    if (tries > 2_000) throw new Error('the native library did not come so far')
    Atomics.wait(cell, 0, 0, 5)
  }
}

/** Gives the native channels that come on a connection, whose methods nobody has replaced yet. */
function nativeChannels(native: PeerConnection): readonly DataChannel[] {
  const channels: DataChannel[] = []
  const setOnChannel = native.onDataChannel.bind(native)
  const value = (take: (channel: DataChannel) => void) =>
    setOnChannel((channel) => {
      channels.push(channel)
      take(channel)
    })
  Object.defineProperty(native, 'onDataChannel', { value, configurable: true })
  return channels
}

function createSide() {
  const config = withNativeConnection({ iceServers: [] })
  const channels = nativeChannels(config.peerConnection)
  const connection = new RTCPeerConnection(config)
  onTestFinished(() => connection.close())
  return { native: config.peerConnection, channels, connection }
}

type Side = ReturnType<typeof createSide>

function exchangeCandidates(from: RTCPeerConnection, to: RTCPeerConnection): void {
  from.addEventListener('icecandidate', (event) => {
    const { candidate } = event as RTCPeerConnectionIceEvent
    // one that comes after the end is refused
    if (candidate !== null) to.addIceCandidate(candidate).catch(() => {})
  })
}

/** Two connected sides, of which the receiver is ordered, and a channel whose messages it counts. */
async function connect() {
  const [sender, receiver] = [new RTCPeerConnection({ iceServers: [] }), createSide()]
  onTestFinished(() => sender.close())
  exchangeCandidates(sender, receiver.connection)
  exchangeCandidates(receiver.connection, sender)
  const channel = sender.createDataChannel('')
  const came = new Promise<RTCDataChannel>((resolve) =>
    receiver.connection.addEventListener('datachannel', (event) =>
      resolve((event as RTCDataChannelEvent).channel),
    ),
  )
  const opened = new Promise((resolve) => channel.addEventListener('open', resolve))
  const offer = await sender.createOffer()
  await sender.setLocalDescription(offer)
  await receiver.connection.setRemoteDescription(offer)
  const answer = await receiver.connection.createAnswer()
  await receiver.connection.setLocalDescription(answer)
  await sender.setRemoteDescription(answer)
  await opened
  const received = await came
  const heard: number[] = []
  received.addEventListener('message', ({ data }) => heard.push((data as ArrayBuffer).byteLength))
  const closed = new Promise((resolve) => received.addEventListener('close', resolve))
  return { receiver, channel, received, heard, closed }
}

function sendAll(channel: RTCDataChannel): void {
  for (let sent = 0; sent < COUNT; sent++) channel.send(MESSAGE)
}

const hasAll = ({ native }: Side) => native.bytesReceived() >= COUNT * MESSAGE.length

test('what was sent before a channel ended is read, however late', async () => {
  const { receiver, channel, heard, closed } = await connect()
  sendAll(channel)
  holdUntil(() => channel.bufferedAmount === 0)
  channel.close()
  await new Promise((resolve) => setImmediate(resolve))
  holdUntil(() => receiver.channels.every((each) => !each.isOpen()))
  await closed
  expect(heard.length).toBe(COUNT)
})

test('what came before this side closes a channel is read', async () => {
  const { receiver, channel, received, heard, closed } = await connect()
  sendAll(channel)
  holdUntil(() => hasAll(receiver))
  received.close()
  await closed
  expect(heard.length).toBe(COUNT)
})

test('what came before this side closes a connection is read', async () => {
  const { receiver, channel, heard, closed } = await connect()
  sendAll(channel)
  holdUntil(() => hasAll(receiver))
  receiver.connection.close()
  await closed
  expect(heard.length).toBe(COUNT)
})

test('what is about to be closed is closed before the library ends, which would wait for it', async () => {
  const { receiver } = await connect()
  receiver.connection.close()
  expect(receiver.native.state()).toBe('connected')
  closeNow()
  expect(receiver.native.state()).toBe('closed')
})
