import { parsePeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { IN_USE_MS, PROVIDER_LOOK_MS } from '../limits.ts'
import { ProviderLiveness } from './provider-liveness.ts'

const PEER = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
/** Silence after a question that puts a connection in doubt, as in `@mesh/p2p`. */
const DOUBT_MS = 1_000

function createProvider() {
  const clock = createManualClock()
  const provider = { isAlive: true, isKnown: true, asked: 0 }
  const network = {
    pathOf: () => (provider.isKnown ? ({ path: 'direct', transport: 'tcp', rttMs: 1 } as const) : undefined),
    async check() {
      provider.asked++
      if (provider.isAlive) return
      await new Promise<void>((resolve) => clock.after(DOUBT_MS, resolve))
      provider.isKnown = false
      await new Promise(() => {})
    },
  }
  const liveness = new ProviderLiveness({ network, clock })
  const connect = (hasOther = true) => {
    const traffic = { bytesIn: 0, bytesOut: 0 }
    const ended: string[] = []
    const end = ({ message }: Error) => void ended.push(message)
    const close = liveness.watch(PEER, { traffic, end, hasOther: () => hasOther })
    return { traffic, ended, close }
  }
  return { clock, provider, connect }
}

test('a provider that dies silently under use is left within 3 s, where another one is there', async () => {
  const { clock, provider, connect } = createProvider()
  const [used, alone] = [connect(), connect(false)]
  used.traffic.bytesIn = 100
  await clock.advance(PROVIDER_LOOK_MS)
  provider.isAlive = false
  used.traffic.bytesOut = 50
  await clock.advance(1_900)
  expect(used.ended).toEqual([])
  await clock.advance(1_100)
  expect(used.ended.length).toBeGreaterThan(0)
  expect(alone.ended).toEqual([])
})

test('one that answers is asked while it is in use, and not any more when nothing goes over', async () => {
  const { clock, provider, connect } = createProvider()
  const { traffic, ended, close } = connect()
  traffic.bytesOut = 1
  await clock.advance(5_000)
  expect(provider.asked).toBeGreaterThan(2)
  await clock.advance(2 * IN_USE_MS)
  const before = provider.asked
  await clock.advance(60_000)
  expect([provider.asked, ended]).toEqual([before, []])
  close()
  expect(clock.pending).toBe(0)
})

test('one that sends is not asked at all', async () => {
  const { clock, provider, connect } = createProvider()
  const { traffic } = connect()
  for (let at = 0; at < 10; at++) {
    traffic.bytesIn += 1_000
    await clock.advance(PROVIDER_LOOK_MS)
  }
  expect(provider.asked).toBe(0)
})
