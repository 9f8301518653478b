import { type Clock, TimeShare } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, it } from 'vitest'
import type { VpnChannel } from '../ports.ts'
import { peerOf } from '../testing/memory-machine.ts'
import { runControlChannel } from './control-channel.ts'
import type { KeyExchange } from './key-exchange.ts'
import { CONTROL_BURST_MS, CONTROL_TIME_SHARE, KEY_EXCHANGE_MS } from './limits.ts'

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

/** A channel whose messages the test brings. */
function createSlowChannel() {
  const heard: (() => void)[] = []
  const channel: VpnChannel = {
    peer: peerOf(1),
    direct: true,
    send: async () => {},
    async *messages() {
      for (;;) {
        await new Promise<void>((resolve) => heard.push(resolve))
        yield Uint8Array.of(1)
      }
    },
    close: async () => {},
    abort: () => {},
  }
  return { channel, bring: () => heard.shift()?.() }
}

it.each([
  { says: 'nothing', step: undefined, refusedAfterMs: KEY_EXCHANGE_MS },
  { says: 'what later versions say', step: { kind: 'ignored' }, refusedAfterMs: KEY_EXCHANGE_MS },
  {
    says: 'its hello late',
    step: { kind: 'send', message: new Uint8Array() },
    refusedAfterMs: 2 * KEY_EXCHANGE_MS,
  },
] as const)(
  'a peer that says $says is waited for as long as it may take, and what waits for this node itself takes none of it',
  async ({ step, refusedAfterMs }) => {
    const clock = createManualClock()
    const queueMs = 60_000
    const share = {
      run: async <T>(_ms: number, _signal: AbortSignal, work: () => T) => {
        await new Promise<void>((resolve) => clock.after(queueMs, resolve))
        return work()
      },
    } as unknown as TimeShare
    const { channel, bring } = createSlowChannel()
    const refused: string[] = []
    const exchange: KeyExchange = { hello: new Uint8Array(), receive: () => step ?? { kind: 'ignored' } }
    const events = {
      onEstablished: () => {},
      onPaths: () => {},
      onRefused: (code: string) => refused.push(code),
    }
    const { signal } = new AbortController()
    void runControlChannel(channel, exchange, { clock, time: share, signal, ...events })
    let waitedMs = KEY_EXCHANGE_MS / 2
    await clock.advance(waitedMs)
    if (step !== undefined) {
      bring()
      await clock.advance(queueMs)
      if (step.kind === 'send') waitedMs = KEY_EXCHANGE_MS
    }
    await clock.advance(refusedAfterMs - waitedMs - 100)
    expect(refused).toEqual([])
    await clock.advance(200)
    expect(refused).toEqual(['key.timeout'])
  },
)
