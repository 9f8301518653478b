import type { Connection } from '@libp2p/interface'
import type { Clock } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import {
  CHANNEL_MESSAGES_BY_ADDRESS,
  CHANNEL_MESSAGES_IN_ALL,
  MEMBER_CHANNEL_MESSAGES,
  UNPROVEN_CHANNEL_MESSAGES,
} from '../limits.ts'
import { boundChannelMessages, createChannelMessageRate, type TakeMessage } from './channel-message-rate.ts'

interface ConnectInit {
  readonly isTrusted?: boolean
  readonly address?: string
  readonly clock?: Clock
  readonly takeMessage?: TakeMessage
}

/** A connection of WebRTC, and what sends on a channel of it as often as may be before it ends. */
function connect({ isTrusted = true, address = '192.0.2.1', ...shared }: ConnectInit) {
  const { clock = createManualClock() } = shared
  const { takeMessage = createChannelMessageRate(clock) } = shared
  const end = { isAborted: false }
  const muxer = {
    peerConnection: {},
    onRemoteStream: (_stream: unknown) => {},
    onCreateStream: (_options: unknown): unknown => ({ channel: new EventTarget() }),
  }
  const remoteAddr = multiaddr(`/ip4/${address}/udp/1/webrtc-direct`)
  const connection = { muxer, abort: () => (end.isAborted = true), remoteAddr } as unknown as Connection
  boundChannelMessages(connection, { isTrusted: () => isTrusted, takeMessage, clock })
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

test.each([
  { who: 'a stranger', isTrusted: false, burst: UNPROVEN_CHANNEL_MESSAGES.burst },
  { who: 'a member', isTrusted: true, burst: MEMBER_CHANNEL_MESSAGES.burst },
])('$who that sends without pause loses the connection', ({ isTrusted, burst }) => {
  const { end, send } = connect({ isTrusted })
  expect(send(MANY)).toBe(burst + 1)
  expect(end.isAborted).toBe(true)
})

test('a member that sends at the rate keeps it', async () => {
  const clock = createManualClock()
  const { end, send } = connect({ clock })
  for (let second = 0; second < 60; second++) {
    send(MEMBER_CHANNEL_MESSAGES.perSecond)
    await clock.advance(1_000)
  }
  expect(end.isAborted).toBe(false)
})

test('what comes on a channel that this node opened counts too', async () => {
  const { muxer, send } = connect({})
  const { channel } = (await muxer.onCreateStream({})) as { readonly channel: EventTarget }
  expect(send(MANY, channel)).toBe(MEMBER_CHANNEL_MESSAGES.burst + 1)
})

test('many connections of one address, and many addresses, have no more together', () => {
  const clock = createManualClock()
  const takeMessage = createChannelMessageRate(clock)
  let sent = 0
  for (let at = 0; at < 20; at++) sent += connect({ clock, takeMessage }).send(MANY)
  expect(sent).toBeLessThanOrEqual(CHANNEL_MESSAGES_BY_ADDRESS.burst + 20)
  for (let at = 0; at < 100; at++)
    sent += connect({ clock, takeMessage, address: `192.0.3.${at}` }).send(MANY)
  expect(sent).toBeLessThanOrEqual(CHANNEL_MESSAGES_IN_ALL.burst + 120)
})
