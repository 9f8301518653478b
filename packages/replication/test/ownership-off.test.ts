import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { afterEach, expect, it } from 'vitest'
import { createSimNetwork } from './sim-network.ts'
import { contentOf, createSimSigner, type SimNode, startSimNode } from './sim-node.ts'

const SECOND = 1000

const started: SimNode[] = []
afterEach(async () => {
  await Promise.all(started.splice(0).map((node) => node.kill()))
})

function createStage(seed = 5) {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12, 3))
  const random = createSeededRandom(seed)
  const network = createSimNetwork({}, { clock, random })
  const at = { clock, random, network }
  const start = async () => {
    const node = await startSimNode({ signer: createSimSigner(random), ledger: { mode: 'off' } }, at)
    started.push(node)
    return node
  }
  return { ...at, start }
}

const heartbeats = (node: SimNode) => node.ledger.snapshot().count('healthcheck')

it('the greater block wins as a whole, and there is no catch-up', async () => {
  const { clock, network, start } = createStage()
  const [anna, bert] = [await start(), await start()]
  await clock.advance(20 * SECOND)
  anna.ledger.put('notes', 'a', '1')
  await clock.advance(SECOND)
  bert.ledger.put('notes', 'b', '2')
  await clock.advance(20 * SECOND)
  expect(contentOf(anna.ledger)).toHaveLength(2)
  expect(contentOf(bert.ledger)).toEqual(contentOf(anna.ledger))
  expect(network.counts.channels).toBe(0)
})

it.each([1, 2, 3])(
  'no write is lost that several nodes make at once, 20 each at two a second (seed %i)',
  async (seed) => {
    const { clock, start } = createStage(seed)
    const nodes = [await start(), await start(), await start(), await start()]
    await clock.advance(5 * SECOND)
    for (let round = 0; round < 20; round++) {
      for (const [at, { ledger }] of nodes.entries()) ledger.put('notes', `${at} ${round}`, '1')
      await clock.advance(SECOND / 2)
    }
    await clock.advance(30 * SECOND)
    for (const { ledger } of nodes) expect(contentOf(ledger)).toHaveLength(80)
  },
)

it('the heartbeat of a newcomer stands within seconds, though a longer chain replaces its first block', async () => {
  const { clock, start } = createStage()
  const anna = await start()
  for (let at = 0; at < 5; at++) {
    anna.ledger.put('notes', 'n', `${at}`)
    await clock.advance(SECOND)
  }
  await start()
  await clock.advance(15 * SECOND)
  expect(heartbeats(anna)).toBe(2)
})

it('all heartbeats are there again within seconds when a legacy leader deletes their bucket', async () => {
  const { clock, start } = createStage()
  const nodes = [await start(), await start(), await start()]
  await clock.advance(60 * SECOND)
  nodes[0]?.ledger.deleteBucket('healthcheck')
  await clock.advance(5 * SECOND)
  expect(nodes.map(heartbeats)).toEqual([3, 3, 3])
})

it('a heartbeat is at most 40 s old, as legacy members ask for', async () => {
  const { clock, start } = createStage()
  const [anna, bert] = [await start(), await start()]
  await clock.advance(600 * SECOND)
  for (let at = 0; at < 10; at++) {
    await clock.advance(13 * SECOND)
    const value = anna.ledger.snapshot().getLive('healthcheck', bert.id)?.value ?? '""'
    expect(clock.now() - Date.parse(JSON.parse(value) as string)).toBeLessThanOrEqual(42 * SECOND)
  }
})
