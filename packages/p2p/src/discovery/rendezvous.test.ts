import { silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { startRendezvous } from './rendezvous.ts'

const WINDOW_MS = 360_000

function build(size: () => number, more: { readonly intervalMs?: number } = {}) {
  const clock = createManualClock()
  const calls: string[] = []
  const found: string[] = []
  const ran: unknown[] = []
  const stop = startRendezvous(
    {
      rendezvousAt(now) {
        const window = Math.floor(now / WINDOW_MS)
        return {
          previous: `w${window - 1}`,
          current: `w${window}`,
          next: `w${window + 1}`,
          changesAtMs: (window + 1) * WINDOW_MS,
        }
      },
      dht: {
        join: async () => size(),
        async provide(name) {
          calls.push(`provide ${name}`)
        },
        async *findProviders(name) {
          calls.push(`find ${name}`)
          yield { peer: 'p', addresses: [multiaddr('/ip4/192.0.2.1/tcp/1')] }
        },
      },
      found: ({ peer }) => found.push(peer),
      ran: (error) => ran.push(error),
      ...more,
    },
    { clock, random: createSeededRandom(3), logger: silentLogger },
  )
  return { clock, calls, found, ran, stop }
}

test('looks and provides in the windows before, at and after now', async () => {
  const { clock, calls, found, ran } = build(() => 20)
  await clock.advance(1)
  expect(ran).toEqual([undefined])
  const window = Math.floor(clock.now() / WINDOW_MS)
  for (const name of [window - 1, window, window + 1]) {
    expect(calls).toContain(`find w${name}`)
    expect(calls).toContain(`provide w${name}`)
  }
  expect(found).toHaveLength(3)
})

test('at each change of the window it provides anew, and not oftener than that', async () => {
  const { clock, calls } = build(() => 20)
  await clock.advance(10 * WINDOW_MS)
  const provided = calls.filter((call) => call.startsWith('provide'))
  expect(new Set(provided).size).toBeGreaterThanOrEqual(12)
  expect(provided.length).toBeLessThanOrEqual(3 * 12)
})

test('asks nobody while it knows nobody, and soon after it does', async () => {
  let size = 0
  const { clock, calls } = build(() => size)
  await clock.advance(60_000)
  expect(calls).toEqual([])
  size = 1
  await clock.advance(20_000)
  expect(calls).toContain(`find w${Math.floor(clock.now() / WINDOW_MS)}`)
})

test('looks as often as it was told to', async () => {
  const lookedIn = async (intervalMs: number) => {
    const { clock, calls } = build(() => 20, { intervalMs })
    await clock.advance(WINDOW_MS)
    calls.length = 0
    await clock.advance(10 * 60_000)
    return calls.filter((call) => call.startsWith('find')).length / 3
  }
  expect(await lookedIn(30_000)).toBeGreaterThanOrEqual(18)
  expect(await lookedIn(30_000)).toBeLessThanOrEqual(22)
  expect(await lookedIn(300_000)).toBeLessThanOrEqual(4)
})

test('stopping leaves no timer', async () => {
  const { clock, stop } = build(() => 20)
  await clock.advance(1_000)
  stop()
  await clock.advance(1)
  expect(clock.pending).toBe(0)
})
