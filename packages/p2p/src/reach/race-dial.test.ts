import type { Connection } from '@libp2p/interface'
import { createManualClock } from '@mesh/testkit'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { DIAL_STAGGER_MS, DIAL_TIMEOUT_MS, RELAY_STAGGER_MS } from './limits.ts'
import { raceDial } from './race-dial.ts'

const RELAY = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const TCP = multiaddr('/ip4/192.0.2.1/tcp/1')
const WS = multiaddr('/ip4/192.0.2.1/tcp/2/ws')
const RELAYED = multiaddr(`/ip4/192.0.2.2/tcp/1/p2p/${RELAY}/p2p-circuit`)

function build() {
  const clock = createManualClock()
  const since = clock.now()
  const dials: { address: string; at: number; signal: AbortSignal }[] = []
  const pending = new Map<string, { resolve(connection: Connection): void; reject(error: Error): void }>()
  const controller = new AbortController()
  const race = (addresses: readonly Multiaddr[]) =>
    raceDial(addresses, {
      clock,
      signal: controller.signal,
      dialOne(address, signal) {
        dials.push({ address: address.toString(), at: clock.now() - since, signal })
        return new Promise((resolve, reject) => pending.set(address.toString(), { resolve, reject }))
      },
    })
  return { clock, dials, pending, controller, race }
}
const CONNECTION = { id: 'won' } as Connection

test('addresses get a head start each, relayed ones wait longest', async () => {
  const { clock, dials, pending, race } = build()
  const won = race([RELAYED, WS, TCP])
  await clock.advance(5_000)
  expect(dials.map(({ at }) => at)).toEqual([0, DIAL_STAGGER_MS, DIAL_STAGGER_MS + RELAY_STAGGER_MS])
  expect(dials.map(({ address }) => address)).toEqual([TCP, WS, RELAYED].map(String))
  pending.get(WS.toString())?.resolve(CONNECTION)
  expect(await won).toBe(CONNECTION)
  expect(dials.map(({ signal }) => signal.aborted)).toEqual([true, false, true])
  await clock.advance(1)
  expect(clock.pending).toBe(0)
})

test('a refusal lets the next one start at once', async () => {
  const { clock, dials, pending, race } = build()
  const won = race([TCP, WS])
  await clock.advance(10)
  pending.get(TCP.toString())?.reject(new Error('refused'))
  await clock.advance(0)
  expect(dials.map(({ at }) => at)).toEqual([0, 10])
  pending.get(WS.toString())?.resolve(CONNECTION)
  expect(await won).toBe(CONNECTION)
})

test('when all refuse the caller learns why, when none answers it learns that', async () => {
  const refused = build()
  const lost = refused.race([TCP])
  await refused.clock.advance(1)
  refused.pending.get(TCP.toString())?.reject(new Error('refused'))
  await expect(lost).rejects.toThrow('refused')

  const silent = build()
  const waits = silent.race([TCP, WS])
  waits.catch(() => {})
  await silent.clock.advance(DIAL_TIMEOUT_MS)
  await expect(waits).rejects.toThrow('no answer within 10 s')
  expect(silent.dials.every(({ signal }) => signal.aborted)).toBe(true)
})

test('the caller may end it', async () => {
  const { clock, controller, dials, race } = build()
  const waits = race([TCP])
  controller.abort(new Error('stopped'))
  await expect(waits).rejects.toThrow('stopped')
  expect(dials[0]?.signal.aborted).toBe(true)
  expect(clock.pending).toBe(0)
})

test('without an address there is nothing to wait for', async () => {
  await expect(build().race([])).rejects.toThrow('no address')
})
