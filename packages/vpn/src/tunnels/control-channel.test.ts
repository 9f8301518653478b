import { type Clock, TimeShare } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, it } from 'vitest'
import type { VpnChannel } from '../ports.ts'
import { peerOf } from '../testing/memory-machine.ts'
import { runControlChannel } from './control-channel.ts'
import type { KeyExchange } from './key-exchange.ts'
import { CONTROL_BURST_MS, CONTROL_TIME_SHARE } from './limits.ts'

/** How long one message takes to read, in ms. */
const WORK_MS = 5
const CHANNELS = 20

/** A channel on which messages come without pause. */
function createFullChannel(number: number): VpnChannel {
  return {
    peer: peerOf(number),
    direct: true,
    send: async () => {},
    async *messages() {
      for (let sent = 0; sent < 50; sent++) yield Uint8Array.of(1)
    },
    close: async () => {},
    abort: () => {},
  }
}

it('the messages of many channels take their part of the time, and no more', async () => {
  const time = createManualClock()
  let read = 0
  const clock: Clock = { ...time, monotonic: () => time.monotonic() + read * WORK_MS }
  const exchange: KeyExchange = {
    hello: new Uint8Array(),
    receive() {
      read++
      return { kind: 'ignored' }
    },
  }
  const share = new TimeShare({ burstMs: CONTROL_BURST_MS, oneIn: CONTROL_TIME_SHARE }, clock)
  const never = new AbortController()
  const events = { onEstablished: () => {}, onPaths: () => {}, onRefused: () => {} }
  const running = Array.from({ length: CHANNELS }, (_, at) =>
    runControlChannel(createFullChannel(at), exchange, {
      clock,
      time: share,
      signal: never.signal,
      ...events,
    }),
  )
  const SECOND = 1_000
  await time.advance(SECOND)
  const mostMs = CONTROL_BURST_MS + (SECOND + read * WORK_MS) / CONTROL_TIME_SHARE + WORK_MS
  expect(read * WORK_MS).toBeGreaterThan(SECOND / CONTROL_TIME_SHARE / 2)
  expect(read * WORK_MS).toBeLessThanOrEqual(mostMs)
  never.abort(new Error('the test is over'))
  await Promise.all(running)
})
