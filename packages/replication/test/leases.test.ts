/** Leases in virtual time: what they promise among members that reach each other, and what they do not in a partition. */
import type { PeerId } from '@mesh/core'
import { createLeases, type Lease, type Leases } from '@mesh/ledger'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, it } from 'vitest'
import { createSimNetwork } from './sim-network.ts'
import { createSimSigner, type SimNode, startSimNode } from './sim-node.ts'

const SECOND = 1_000
const TTL_MS = 15 * SECOND
const never = new AbortController().signal

interface Candidate {
  readonly node: SimNode
  readonly leases: Leases
  held: Lease | undefined
}

function createStage(seed = 1, loss = 0) {
  const clock = createManualClock(Date.UTC(2026, 10, 21, 12, 3))
  const random = createSeededRandom(seed)
  const network = createSimNetwork({ loss }, { clock, random })
  const candidates: Candidate[] = []
  const start = async (skewMs = 0): Promise<Candidate> => {
    const node = await startSimNode({ signer: createSimSigner(random), skewMs }, { network, clock, random })
    const leases = createLeases({ ledger: node.ledger, clock: node.clock, random })
    const candidate: Candidate = { node, leases, held: undefined }
    candidates.push(candidate)
    return candidate
  }
  /** Takes the lease now, and again whenever it was lost. */
  const compete = async (candidate: Candidate): Promise<void> => {
    for (;;) {
      candidate.held = await candidate.leases.take({ name: 'leader', ttlMs: TTL_MS, signal: never })
      numbers.push(candidate.held.number)
      const { signal } = candidate.held
      await new Promise((resolve) => signal.addEventListener('abort', resolve))
      candidate.held = undefined
    }
  }
  const numbers: number[] = []
  const holders = () => candidates.filter(({ held }) => held !== undefined)
  /** Passes time, and looks four times a second. */
  const pass = async (ms: number, look: () => void = () => {}) => {
    for (let passed = 0; passed < ms; passed += 250) {
      await clock.advance(250)
      look()
    }
  }
  const end = async () => {
    for (const { node } of candidates) await node.kill()
  }
  return { start, compete, holders, pass, numbers, network, end }
}

/** Ends as it stands: nobody waits for it, and the stage ends all. */
function begin(competing: Promise<void>): void {
  competing.catch(() => {})
}

const atMostOne = (holders: () => readonly unknown[]) => () => expect(holders().length).toBeLessThan(2)

it.each([1, 14, 58, 84])(
  'of members that reach each other one holds it, whatever is lost on the way (seed %i)',
  async (seed) => {
    const { start, compete, holders, pass, numbers, end } = createStage(seed, 0.05)
    // clocks differ, by less than the two minutes from which on members refuse entries
    const five = [await start(), await start(50_000), await start(-50_000), await start(), await start()]
    await pass(10 * SECOND)
    for (const each of five) begin(compete(each))
    await pass(60 * SECOND, atMostOne(holders))
    expect(holders()).toHaveLength(1)
    await pass(120 * SECOND, atMostOne(holders))
    expect(numbers).toEqual(numbers.toSorted((a, b) => a - b))
    await end()
  },
)

it('when its holder dies another one takes it after the TTL, with a greater number', async () => {
  const { start, compete, holders, pass, numbers, end } = createStage()
  const three = [await start(), await start(), await start()]
  await pass(10 * SECOND)
  for (const each of three) begin(compete(each))
  await pass(20 * SECOND)
  const [first] = holders()
  expect(first).toBeDefined()
  await first?.node.kill()
  const others = () => holders().filter((each) => each !== first)
  await pass(TTL_MS - 6 * SECOND, () => expect(others()).toEqual([]))
  await pass(20 * SECOND, atMostOne(others))
  expect(others()).toHaveLength(1)
  expect(numbers[1]).toBeGreaterThan(numbers[0] ?? 0)
  await end()
})

it('given back it is free for the next one at once', async () => {
  const { start, compete, holders, pass, end } = createStage()
  const [one, other] = [await start(), await start()]
  await pass(10 * SECOND)
  begin(compete(one))
  await pass(5 * SECOND)
  begin(compete(other))
  await pass(60 * SECOND)
  expect(holders()).toEqual([one])
  const giving = one.leases.stop()
  await pass(5 * SECOND)
  await giving
  expect(other.held).toBeDefined()
  await end()
})

it('in a partition each side may have a holder; when the sides meet the greater number stays', async () => {
  const { start, compete, holders, pass, network, numbers, end } = createStage()
  const four = [await start(), await start(), await start(), await start()]
  await pass(10 * SECOND)
  for (const each of four) begin(compete(each))
  await pass(20 * SECOND)
  const [first] = holders()
  const side = new Set<PeerId>(first === undefined ? [] : [first.node.id])
  for (const { node } of four) if (side.size < 2) side.add(node.id)
  network.partition((peer) => (side.has(peer) ? 0 : 1))
  await pass(60 * SECOND)
  // this is what no lease without a majority can prevent
  expect(holders()).toHaveLength(2)
  const [older = 0, newer = 0] = holders()
    .map(({ held }) => held?.number ?? 0)
    .toSorted((a, b) => a - b)
  expect(older).toBeLessThan(newer)
  network.partition(undefined)
  await pass(40 * SECOND)
  expect(holders()).toHaveLength(1)
  expect(holders()[0]?.held?.number).toBe(newer)
  expect(numbers.toSorted((a, b) => a - b)).toEqual(numbers)
  await end()
})

it('a holder that its user does not renew loses it in time', async () => {
  const { start, pass, end } = createStage()
  const { leases } = await start()
  await pass(20 * SECOND)
  let lease: Lease | undefined
  void leases
    .take({ name: 'x', ttlMs: TTL_MS, renews: false, signal: never })
    .then((taken) => (lease = taken))
  await pass(5 * SECOND)
  expect(leases.list()).toMatchObject([{ name: 'x', ttlMs: TTL_MS }])
  lease?.renew()
  await pass(TTL_MS - SECOND)
  expect(lease?.signal.aborted).toBe(false)
  await pass(2 * SECOND)
  expect(lease?.signal.reason).toMatchObject({ code: 'lease.lost' })
  expect(leases.list()).toEqual([])
  expect(() => lease?.renew()).toThrow('was not renewed in time')
  await end()
})

it('what any member may write harms nobody: a number from the future, and no lease at all', async () => {
  const { start, pass, end } = createStage()
  const [one, hostile] = [await start(), await start()]
  await pass(10 * SECOND)
  const { ledger } = hostile.node
  ledger.put('leases', 'junk', JSON.stringify({ PeerID: ledger.self, Number: 'x' }))
  const future = { PeerID: ledger.self, Number: Number.MAX_SAFE_INTEGER, TTL: 1e9 }
  ledger.put('leases', 'job', JSON.stringify(future))
  await pass(SECOND)
  expect(one.leases.list()).toMatchObject([{ name: 'job', ttlMs: 3_600_000 }])
  ledger.delete('leases', 'job')
  await pass(SECOND)
  let lease: Lease | undefined
  void one.leases.take({ name: 'job', ttlMs: TTL_MS, signal: never }).then((taken) => (lease = taken))
  await pass(5 * SECOND)
  expect(lease?.number).toBeLessThan(Number.MAX_SAFE_INTEGER)
  await end()
})
