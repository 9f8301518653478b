/**
 * In the end all hold the same, but for the keys that they list as conflicts.
 *
 * The seed is printed; `MESH_SIMULATION_SEED=n` repeats a run, `MESH_SIMULATION_NODES=n` makes it larger or smaller.
 */
import { expect, it } from 'vitest'
import { simulate, type SimulationOutcome } from './simulation.ts'

const NODES = Number(process.env.MESH_SIMULATION_NODES ?? 40)
const FIXED_SEED = 20261121
const seed = chooseSeed()

it(`${NODES} ledgers end equal but for conflicts (seed ${seed})`, { timeout: 300_000 }, async () => {
  process.stdout.write(`simulation: MESH_SIMULATION_SEED=${seed}\n`)
  const outcome = await simulate(seed, NODES)
  process.stdout.write(`simulation ${seed}: ${JSON.stringify(summaryOf(outcome))}\n`)
  const { nodes, conflicts, contents, digests } = outcome
  for (const content of contents) expect(content).toEqual(contents[0])
  expect(conflicts.size > 0 || digests.size === 1).toBe(true)
  expect(contents[0]?.length).toBeGreaterThan(NODES)
  const rejected = new Set(nodes.flatMap(({ ledger }) => Object.keys(ledger.rejections())))
  for (const code of ['BAD_SIG', 'OWNER_MISMATCH', 'FUTURE', 'TOO_LARGE', 'NOT_OWNER']) {
    expect(rejected).toContain(code)
  }
})

/** The same in CI each time; elsewhere a new one. */
function chooseSeed(): number {
  const given = process.env.MESH_SIMULATION_SEED
  if (given !== undefined) return Number(given)
  return process.env.CI === undefined ? Math.floor(performance.timeOrigin) % 1_000_000 : FIXED_SEED
}

function summaryOf({ network, nodes, conflicts, digests }: SimulationOutcome) {
  const peers = nodes.flatMap(({ replicator }) => replicator.status().peers)
  const total = (pick: (peer: (typeof peers)[number]) => number) =>
    peers.reduce((sum, peer) => sum + pick(peer), 0)
  return {
    ...network.counts,
    sessions: total(({ sessions }) => sessions),
    entriesBySessions: total(({ entriesIn }) => entriesIn),
    conflicts: [...conflicts],
    digests: digests.size,
  }
}
