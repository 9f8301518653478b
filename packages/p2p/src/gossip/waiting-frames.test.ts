import { silentLogger, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { describe, expect, test } from 'vitest'
import { MAX_WAITING_GOSSIP_BYTES } from './limits.ts'
import { maxWaitingBytes } from './gossipsub-settings.ts'
import { type GossipSender, WaitingFrames } from './waiting-frames.ts'

const MB = 2 ** 20

interface Peer extends GossipSender {
  /** What the peer takes of what waits for it. */
  reads(bytes: number): void
  readonly wasReset: boolean
}

function createPeer(): Peer {
  let left = 0
  let wasReset = false
  return {
    rawStream: {
      get writeBufferLength() {
        return left
      },
      abort() {
        left = 0
        wasReset = true
      },
    },
    pushPrefixed({ byteLength }) {
      if (wasReset) throw new Error('the stream is closed')
      left += byteLength
    },
    reads(bytes) {
      left = Math.max(0, left - bytes)
    },
    get wasReset() {
      return wasReset
    },
  }
}

function setUp(addresses: readonly string[]) {
  const waiting = new WaitingFrames(MAX_WAITING_GOSSIP_BYTES, silentLogger)
  const peers = addresses.map((address) => {
    const peer = createPeer()
    waiting.watch(peer, address)
    return peer
  })
  return { waiting, peers }
}

const frameOf = (byteLength: number) => ({ byteLength }) as never

describe('frames that wait for slow peers', () => {
  test('count once, however many peers they wait for', () => {
    const { waiting, peers } = setUp(['a', 'b', 'c', 'd', 'e', 'f'])
    const frame = frameOf(14 * MB)
    for (const peer of peers) peer.pushPrefixed(frame)
    expect(waiting.bytes).toBe(14 * MB)
    expect(peers.some(({ wasReset }) => wasReset)).toBe(false)
  })

  test('are bounded in all: many keys of one address lose their own streams, and a slow peer elsewhere keeps its', () => {
    const many = Array.from({ length: 40 }, () => 'hostile')
    const { waiting, peers } = setUp(['honest', ...many])
    const [honest, ...hostile] = peers
    honest?.pushPrefixed(frameOf(5 * MB))
    for (let round = 0; round < 20; round++) {
      for (const peer of hostile) if (!peer.wasReset) peer.pushPrefixed(frameOf(MB))
    }
    const kept = peers.reduce((sum, { rawStream }) => sum + rawStream.writeBufferLength, 0)
    expect(kept).toBeLessThanOrEqual(MAX_WAITING_GOSSIP_BYTES)
    expect(waiting.bytes).toBe(kept)
    expect(hostile.some(({ wasReset }) => wasReset)).toBe(true)
    expect(honest?.wasReset).toBe(false)
  })

  test('are let go when they were sent', () => {
    const { waiting, peers } = setUp(['a', 'b'])
    const [reader, slow] = peers
    slow?.pushPrefixed(frameOf(10 * MB))
    reader?.pushPrefixed(frameOf(MB / 4))
    for (let at = 0; at < 3_000; at++) {
      reader?.pushPrefixed(frameOf(MB))
      reader?.reads(MB)
    }
    expect(peers.some(({ wasReset }) => wasReset)).toBe(false)
    reader?.reads(1_000 * MB)
    slow?.reads(10 * MB)
    for (const peer of peers) peer.pushPrefixed(frameOf(0))
    expect(waiting.bytes).toBe(0)
  })

  test('are never less than the longest frame of the network', () => {
    const config = generateNetworkConfig({}, systemRandom)
    expect(maxWaitingBytes(config)).toBe(MAX_WAITING_GOSSIP_BYTES)
    expect(maxWaitingBytes({ ...config, maxMessageBytes: 64 * MB })).toBeGreaterThan(64 * MB)
  })

  test('a stream that is watched twice counts once, and a closed one no more', () => {
    const { waiting, peers } = setUp(['a'])
    const [peer] = peers
    if (peer === undefined) throw new Error('there is no peer')
    waiting.watch(peer, 'a')
    peer.pushPrefixed(frameOf(MB))
    expect(waiting.bytes).toBe(MB)
    waiting.leave(peer)
    expect(waiting.bytes).toBe(0)
  })
})
