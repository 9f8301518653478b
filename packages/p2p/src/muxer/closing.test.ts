import { generateKeyPair } from '@libp2p/crypto/keys'
import { defaultLogger } from '@libp2p/logger'
import { noise } from '@libp2p/noise'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { multiaddrConnectionPair } from '@libp2p/utils'
import { systemClock } from '@mesh/core'
import { eventually, YAMUX, yamuxHead } from '@mesh/testkit'
import { expect, onTestFinished, test, vi } from 'vitest'
import { muxer } from './index.ts'

test('a ping and a new stream that come while the connection closes are no error', async () => {
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const near = muxer(systemClock)().createStreamMuxer(inbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  const uncaught = vi.fn<(error: unknown) => void>()
  process.on('uncaughtException', uncaught)
  onTestFinished(() => void process.off('uncaughtException', uncaught))
  Object.assign(inbound, { writeStatus: 'closing' })
  far.send(yamuxHead({ type: YAMUX.PING, flags: YAMUX.SYN, stream: 0 }))
  far.send(yamuxHead({ type: YAMUX.DATA, flags: YAMUX.SYN, stream: 1 }))
  await eventually(() => expect(near.streams).toHaveLength(1))
  near.abort(new Error('enough'))
  await new Promise((resolve) => setImmediate(resolve))
  expect(uncaught).not.toHaveBeenCalled()
  expect(near.status).toBe('closed')
})

test('a stream that is read on after its muxer has closed is no error, and ends nothing', async () => {
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const [dialler, listener] = [await encrypter(), await encrypter()]
  const [outer, inner] = await Promise.all([
    dialler.secureOutbound(far, { skipStreamMuxerNegotiation: true }),
    listener.secureInbound(inbound, { skipStreamMuxerNegotiation: true }),
  ])
  const near = muxer(systemClock)().createStreamMuxer(inner.connection)
  onTestFinished(() => near.abort(new Error('the test is over')))
  const [syn, length] = [YAMUX.SYN, 200_000]
  outer.connection.send(yamuxHead({ type: YAMUX.DATA, flags: syn, stream: 1 }))
  await eventually(() => expect(near.streams).toHaveLength(1))
  const [stream] = near.streams
  stream?.pause()
  outer.connection.send(yamuxHead({ type: YAMUX.DATA, flags: 0, stream: 1, length }))
  outer.connection.send(new Uint8Array(length))
  await eventually(() => expect(stream?.readBufferLength).toBe(length))
  stream?.addEventListener('message', () => {})
  await near.close()
  Object.assign(inbound, { status: 'closing', writeStatus: 'closing' })
  stream?.resume()
  expect(stream?.readBufferLength).toBe(0)
  expect(inbound.status).toBe('closing')
})

test('a stream brings no more while its connection closes', async () => {
  const [far, inbound] = multiaddrConnectionPair({ delay: 0 })
  const near = muxer(systemClock)().createStreamMuxer(inbound)
  onTestFinished(() => near.abort(new Error('the test is over')))
  far.send(yamuxHead({ type: YAMUX.DATA, flags: YAMUX.SYN, stream: 1 }))
  await eventually(() => expect(near.streams).toHaveLength(1))
  const [stream] = near.streams
  expect(stream?.send(new Uint8Array(1_000))).toBe(true)
  Object.assign(inbound, { writeStatus: 'closing' })
  expect(stream?.send(new Uint8Array(1_000))).toBe(false)
})

async function encrypter() {
  const privateKey = await generateKeyPair('Ed25519')
  const upgrader = { getStreamMuxers: () => new Map() }
  return noise()({
    privateKey,
    peerId: peerIdFromPrivateKey(privateKey),
    logger: defaultLogger(),
    upgrader,
  } as unknown as Parameters<ReturnType<typeof noise>>[0])
}
