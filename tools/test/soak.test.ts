/**
 * A short form of `npm run soak`: a minute of a small network that asks little, since the other tests with processes
 * run beside it.
 */
import { expect, test } from 'vitest'
import { runSoak } from '../soak/run-soak.ts'

/** What a node may hold in MB: far above what nodes of this size need, so that a loaded machine does not matter. */
const MAX_PEAK_MB = 700

test('a network under churn, writes and hostile traffic loses nothing and stays one', async () => {
  const result = await runSoak({
    minutes: 1,
    nodes: 4,
    attacks: ['inflated-gossip', 'member-connections', 'unknown-field', 'turns-of-ranges'],
    pace: { churnEveryMs: 8_000, attackMs: 3_000, restMs: 10_000, writeEveryMs: 1_000 },
  })
  expect(result).toMatchObject({ nodes: 4, wrong: 0, ledgers: 1, failures: 0 })
  expect(result.peakMb).toBeLessThan(MAX_PEAK_MB)
  expect(result.writes).toBeGreaterThan(20)
  expect(result.restarts).toBeGreaterThan(2)
})
