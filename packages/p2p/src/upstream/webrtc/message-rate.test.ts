import type { Connection } from '@libp2p/interface'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { CONNECTION_CHANNEL_MESSAGES, UNPROVEN_CHANNEL_MESSAGES } from '../limits.ts'
import { boundChannelMessages, createChannelMessageRate, type TakeMessage } from './connections.ts'

interface ConnectInit {
  readonly isTrusted?: boolean
  readonly address?: string
  readonly takeMessage?: TakeMessage
}

let connections = 0

/** A connection of WebRTC, and what sends on a channel of it as often as may be before it ends. */
function connect({ isTrusted = true, address = '192.0.2.1', takeMessage }: ConnectInit) {
  const end = { isAborted: false }
  const muxer = {
    onRemoteStream: (_stream: unknown) => {},
    onCreateStream: (_options: unknown): unknown => ({ channel: new EventTarget() }),
  }
  const connection = {
    id: String(connections++),
    muxer,
    abort: () => (end.isAborted = true),
    remoteAddr: multiaddr(`/ip4/${address}/udp/1/webrtc-direct`),
  } as unknown as Connection
  boundChannelMessages(connection, {
    isTrusted: () => isTrusted,
    takeMessage: takeMessage ?? createChannelMessageRate(createManualClock()),
  })
  const theirs = new EventTarget()
  muxer.onRemoteStream({ channel: theirs })
  /** How many messages it took until the connection ended, or `most`. */
  const send = (most: number, channel = theirs) => {
    let sent = 0
    while (sent < most && !end.isAborted) {
      channel.dispatchEvent(new Event('message'))
      sent++
    }
    return sent
  }
  return { end, muxer, send }
}

const MANY = 1_000_000
const { perAddress, all } = CONNECTION_CHANNEL_MESSAGES

test.each([
  { who: 'a stranger', isTrusted: false, burst: UNPROVEN_CHANNEL_MESSAGES.perPeer.burst },
  { who: 'a member', isTrusted: true, burst: perAddress.burst },
])('$who that sends without pause loses the connection', ({ isTrusted, burst }) => {
  const { end, send } = connect({ isTrusted })
  expect(send(MANY)).toBe(burst + 1)
  expect(end.isAborted).toBe(true)
})

test('what comes on a channel that this node opened counts too', async () => {
  const { muxer, send } = connect({})
  const { channel } = (await muxer.onCreateStream({})) as { readonly channel: EventTarget }
  expect(send(MANY, channel)).toBe(perAddress.burst + 1)
})

test('many connections of one address, and many addresses, have no more together', () => {
  const takeMessage = createChannelMessageRate(createManualClock())
  let sent = 0
  for (let at = 0; at < 20; at++) sent += connect({ takeMessage }).send(MANY)
  expect(sent).toBeLessThanOrEqual(perAddress.burst + 20)
  for (let at = 0; at < 100; at++) sent += connect({ takeMessage, address: `192.0.3.${at}` }).send(MANY)
  expect(sent).toBeLessThanOrEqual(all.burst + 120)
})

test('a connection of a library without the inner names ends', () => {
  let aborted: Error | undefined
  const connection = {
    remoteAddr: multiaddr('/ip4/192.0.2.1/udp/1/webrtc-direct'),
    abort: (error: Error) => void (aborted = error),
  } as unknown as Connection
  boundChannelMessages(connection, { isTrusted: () => true, takeMessage: () => true })
  expect(aborted?.message).toContain('does not fit')
})
