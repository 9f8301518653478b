/** A short form of `npm run attack`: attacks on real nodes that once reached their aim. */
import { expect, test } from 'vitest'
import { runAttack } from '../attack/run-attack.ts'
import { SUITE_BOUNDS } from '../attack/scenario.ts'
import { SCENARIOS } from '../attack/scenarios.ts'

/** Health has more time here than in the suite: the machine is shared. */
const bounds = { ...SUITE_BOUNDS, healthMs: 1_000, writeMs: 30_000 }

test.each(['replayed-author', 'inflated-gossip'])('%s is held off', async (name) => {
  const scenario = SCENARIOS.find((each) => each.name === name)
  if (scenario === undefined) throw new Error(`no attack ${name}`)
  const { broke, arrived, writes } = await runAttack(scenario, { kind: 'mesh', seconds: 3, bounds })
  expect([broke, arrived]).toEqual([undefined, writes])
})
