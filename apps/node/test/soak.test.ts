/** A short form of `npm run soak`: too short to show a leak, long enough for churn, writes and an attack to meet. */
import { expect, test } from 'vitest'
import { runSoak } from '../soak/run-soak.ts'

test('a network under churn, writes and hostile traffic loses nothing and stays one', async () => {
  const result = await runSoak({ minutes: 0.25, nodes: 4, attacks: ['inflated-gossip'] })
  expect(result).toMatchObject({ nodes: 4, wrong: 0, ledgers: 1, failures: 0 })
  expect(result.writes).toBeGreaterThan(5)
  expect(result.restarts).toBeGreaterThan(0)
})
