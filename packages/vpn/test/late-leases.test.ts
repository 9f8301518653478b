/** Leases where messages come late, in another order or not at all, and timers are late, as on a machine that is too busy. */
import { parseCidr } from '@mesh/core'
import { describe, expect, it } from 'vitest'
import { createLeaseLab, type Leaser, MINUTE, SECOND } from './lease-lab.ts'

const areDistinct = (nodes: readonly Leaser[]) =>
  new Set(nodes.flatMap(({ address }) => address ?? [])).size === nodes.length
const meanOf = (counts: readonly number[]) => counts.reduce((sum, count) => sum + count, 0) / counts.length

const COUNT = 50

const CASES = [
  { seed: 71, range: '10.1.0.0/24', latencyMs: [0, 5_000], lateMs: 1_000, withinMs: 40 * SECOND },
  { seed: 72, range: '10.1.0.0/24', latencyMs: [0, 30_000], lateMs: 5_000, withinMs: 200 * SECOND },
  // more than three quarters of the range are leased
  { seed: 73, range: '10.1.0.0/26', latencyMs: [0, 30_000], lateMs: 5_000, withinMs: 200 * SECOND },
] as const

describe(`${COUNT} members that start together and hear each other late`, () => {
  it.each(CASES)(
    'have an address each in $range, after few claims: up to $latencyMs.1 ms late',
    { timeout: 300_000 },
    async ({ seed, range, withinMs, ...late }) => {
      const lab = createLeaseLab(seed, COUNT, { ...late, loss: 0.05, duplication: 0.05 })
      const nodes = await Promise.all(lab.ids.map((_, at) => lab.vpn(at, { range: parseCidr(range) })))
      const tookMs = await lab.until(() => areDistinct(nodes), 10 * MINUTE)
      const leases = nodes.map((node) => node.leases.length)
      const writes = nodes.map((node) => node.writes)
      expect(tookMs).toBeLessThanOrEqual(withinMs)
      expect(Math.max(...leases)).toBeLessThanOrEqual(4)
      // the request, its end, and the records of both addresses; more for each claim that was lost
      expect(meanOf(writes)).toBeLessThanOrEqual(8)
      await lab.clock.advance(MINUTE)
      expect(areDistinct(nodes)).toBe(true)
      await lab.stop()
    },
  )
})
