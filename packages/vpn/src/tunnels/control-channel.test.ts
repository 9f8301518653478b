import type { LoopBudget } from '@mesh/core/limits'
import { createManualClock } from '@mesh/testkit'
import { expect, it } from 'vitest'
import type { VpnChannel } from '../ports.ts'
import { peerOf } from '../testing/memory-machine.ts'
import { runControlChannel } from './control-channel.ts'
import type { KeyExchange } from './key-exchange.ts'
import { KEY_EXCHANGE_MS } from './limits.ts'

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
    const budget = {
      run: async <T>(_lane: string, work: () => Promise<T>) => {
        await new Promise<void>((resolve) => clock.after(queueMs, resolve))
        return await work()
      },
    } as unknown as LoopBudget
    const { channel, bring } = createSlowChannel()
    const refused: string[] = []
    const exchange: KeyExchange = { hello: new Uint8Array(), receive: () => step ?? { kind: 'ignored' } }
    const events = {
      onEstablished: () => {},
      onPaths: () => {},
      onRefused: (code: string) => refused.push(code),
    }
    const { signal } = new AbortController()
    void runControlChannel(channel, exchange, { clock, budget, signal, ...events })
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
