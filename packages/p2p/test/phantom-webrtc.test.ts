/** A WebRTC connection whose two ends never met is none, whatever the signalling said. */
import { parsePeerId, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { RTCPeerConnection } from 'node-datachannel/polyfill'
import { expect, onTestFinished, test } from 'vitest'
import { writeFrame } from '../src/libp2p/frames.ts'
import { deriveMemberKey } from '../src/membership/handshake.ts'
import { proveAsInitiator } from '../src/membership/prove.ts'
import { MEMBER_PROTOCOL } from '../src/protocols.ts'
import { startLoopbackNode } from './loopback-node.ts'
import { connectRawPeer } from './raw-peer.ts'

const SIGNALING = '/webrtc-signaling/0.0.1'
const SDP_OFFER = 0
const SDP_ANSWER = 1

/** A message of the signalling: field 1 is its type, field 2 its text. */
function signal(type: number, text: string): Uint8Array {
  const data = new TextEncoder().encode(text)
  return Uint8Array.of(0x08, type, 0x12, (data.length & 0x7f) | 0x80, data.length >> 7, ...data)
}

async function createOffer(): Promise<string> {
  const connection = new RTCPeerConnection()
  onTestFinished(() => connection.close())
  connection.createDataChannel('init')
  const { sdp = '' } = await connection.createOffer()
  return sdp
}

/** A node, and a peer that is connected to it over TCP. */
async function connect() {
  const network = generateNetworkConfig({}, systemRandom)
  const node = await startLoopbackNode({ network, switches: { webrtc: true, webrtcDirect: true } })
  onTestFinished(() => node.stop())
  await node.allTransportsReady
  return { node, network, ...(await connectRawPeer(node)) }
}

test('a stranger that no relay joins to this node signals nothing', async () => {
  const { connection } = await connect()
  const stream = await connection.newStream(SIGNALING)
  let answered = 0
  stream.addEventListener('message', ({ data }) => {
    answered += data.byteLength
  })
  await writeFrame(stream, signal(SDP_OFFER, await createOffer())).catch(() => {})
  await eventually(() => expect(stream.status).toBe('reset'))
  expect(answered).toBe(0)
})

test('a member that breaks the signalling off gets no WebRTC connection', async () => {
  const { node, network, peer, connection } = await connect()
  const proof = await connection.newStream(MEMBER_PROTOCOL)
  const [self, remote] = [parsePeerId(peer.peerId.toString()), node.self]
  const proving = { self, remote, memberKey: deriveMemberKey(network), random: systemRandom }
  expect(await proveAsInitiator({ stream: proof, ...proving })).toBe('proven')
  const isMember = () => node.peers().some(({ id, member }) => id === self && member)
  await eventually(() => expect(isMember()).toBe(true))
  const stream = await connection.newStream(SIGNALING)
  let answered = 0
  stream.addEventListener('message', ({ data }) => {
    answered += data.byteLength
  })
  await writeFrame(stream, signal(SDP_OFFER, await createOffer()))
  await eventually(() => expect(answered).toBeGreaterThan(100))
  // no candidate: the library takes that for the end of the signalling, and the end for success
  await writeFrame(stream, signal(SDP_ANSWER, 'an answer to nothing'))
  await eventually(() => expect(stream.status).toBe('reset'))
  expect(node.peers()).toMatchObject([{ id: self, transport: 'tcp' }])
})
