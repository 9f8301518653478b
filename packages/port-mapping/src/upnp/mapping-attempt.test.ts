import { createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_UPNP_ATTEMPTS, UPNP_FREE_PORTS, UPNP_LEASE_S } from '../limits.ts'
import { firstAttempt, nextAttempt } from './mapping-attempt.ts'

const [CONFLICT, OTHER_MECHANISM, SAME_PORT, PERMANENT] = [718, 729, 724, 725]
const PORT = 4_700
const random = createSeededRandom(1)
const first = firstAttempt(PORT)
const next = (attempt: typeof first, fault: number | undefined) =>
  nextAttempt(attempt, fault, { port: PORT, random })

test('the port that is wished for is asked for first, for as long as a lease', () => {
  expect(first).toMatchObject({ external: PORT, leaseS: UPNP_LEASE_S })
})

test.each([CONFLICT, OTHER_MECHANISM])(
  'where another has the port (%i) one is drawn that nobody registers',
  (fault) => {
    const drawn = new Set<number>()
    for (let time = 0; time < 200; time++) {
      const external = next(first, fault)?.external ?? 0
      expect(external).toBeGreaterThanOrEqual(UPNP_FREE_PORTS.first)
      expect(external).toBeLessThanOrEqual(UPNP_FREE_PORTS.last)
      drawn.add(external)
    }
    expect(drawn.size).toBeGreaterThan(150)
  },
)

test('the first and the last of the free ports are drawn, and none beyond', () => {
  const drawn = (float: number) =>
    nextAttempt(first, CONFLICT, { port: PORT, random: { ...random, float: () => float } })?.external
  expect(drawn(0)).toBe(49_152)
  expect(drawn(1 - 2 ** -32)).toBe(65_535)
})

test('a router that leases nothing is asked for good, and for other ports so, too', () => {
  const forGood = next(first, PERMANENT)
  expect(forGood).toMatchObject({ external: PORT, leaseS: 0 })
  expect(forGood && next(forGood, CONFLICT)?.leaseS).toBe(0)
  expect(forGood && next(forGood, PERMANENT)).toBe(undefined)
})

test('a router that maps ports to the same ones alone is asked for that, and for no other', () => {
  const drawn = next(first, CONFLICT)
  const same = drawn && next(drawn, SAME_PORT)
  expect(same).toMatchObject({ external: PORT, isSame: true })
  expect(same && next(same, SAME_PORT)).toBe(undefined)
  expect(same && next(same, CONFLICT)).toBe(undefined)
})

test.each([undefined, 0, 401, 402, 501, 606, 9_999])(
  'after a refusal for another reason, %s, nothing is asked',
  (fault) => {
    expect(next(first, fault)).toBe(undefined)
  },
)

test('whatever a router answers, its attempts end', () => {
  for (let seed = 0; seed < 500; seed++) {
    const draws = createSeededRandom(seed)
    const faults = [CONFLICT, OTHER_MECHANISM, SAME_PORT, PERMANENT]
    let attempt: typeof first | undefined = first
    let times = 0
    while (attempt !== undefined) {
      times++
      attempt = next(attempt, faults[Math.floor(draws.float() * faults.length)])
    }
    expect(times).toBeLessThanOrEqual(MAX_UPNP_ATTEMPTS)
  }
})
