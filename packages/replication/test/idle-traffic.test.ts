import { expect, it } from 'vitest'
import { estimateIdleTraffic } from '../bench/idle-traffic.ts'

it('keeps gossip of 20 fully connected idle nodes below 25 kB a node and minute', () => {
  const traffic = estimateIdleTraffic({ nodes: 20, topology: 'full' })
  expect(traffic.gossip).toBeLessThan(25_000)
  expect(traffic.gossip).toBeGreaterThan(5_000)
})

it('keeps the comparison of digests below a kilobyte, however many nodes', () => {
  for (const nodes of [3, 20, 100]) {
    expect(estimateIdleTraffic({ nodes, topology: 'full' }).sessions).toBeLessThan(1000)
  }
})

it('costs nothing alone, and in a star one copy for each leaf', () => {
  expect(estimateIdleTraffic({ nodes: 1, topology: 'full' }).total).toBe(0)
  const star = estimateIdleTraffic({ nodes: 20, topology: 'star' })
  expect(star.gossip).toBeLessThan(estimateIdleTraffic({ nodes: 20, topology: 'full' }).gossip)
})
