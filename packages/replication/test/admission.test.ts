/** Who is let in while ledgers are compared: what is taken of an owner whose admission came with its entries. */
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, it } from 'vitest'
import { createSimNetwork } from './sim-network.ts'
import { createSimSigner, startSimNode } from './sim-node.ts'

const SECOND = 1000

// entries stand in the order of their buckets, so that one comes before and one after the claims and heartbeats
it.each(['admission', 'trustzone'])(
  'takes what a session brings of an owner whom it lets in, and its heartbeat, at once (bucket %s)',
  async (bucket) => {
    const { anna, carl, start, clock } = await startTwo(40)
    anna.ledger.put(bucket, carl.id, '""')
    await clock.advance(5 * SECOND)
    const bert = await start(bucket)
    await clock.advance(5 * SECOND)
    const view = bert.ledger.snapshot()
    expect(view.getLive('machines', '10.1.0.3')?.owner).toBe(carl.id)
    expect(view.isOwnerLive(carl.id, clock.now())).toBe(true)
    expect(view.digest()).toEqual(anna.ledger.snapshot().digest())
    await Promise.all([anna, bert, carl].map((node) => node.kill()))
  },
)

it.each([5, 40])(
  'is sent again what it refused of an owner once it lets that in (%i entries)',
  async (notes) => {
    const { anna, carl, start, clock } = await startTwo(notes)
    const bert = await start('admission')
    await clock.advance(20 * SECOND)
    expect(bert.ledger.rejections().GATED).toBeGreaterThan(notes)
    anna.ledger.put('admission', carl.id, '""')
    await clock.advance(15 * SECOND)
    const view = bert.ledger.snapshot()
    expect(view.isOwnerLive(carl.id, clock.now())).toBe(true)
    expect(view.digest()).toEqual(anna.ledger.snapshot().digest())
    await Promise.all([anna, bert, carl].map((node) => node.kill()))
  },
)

/** A ledger of two who compare; `start` begins a third, who meets the first alone and lets in whom a bucket names. */
async function startTwo(notes: number) {
  const clock = createManualClock(Date.UTC(2026, 10, 27, 12, 4))
  const random = createSeededRandom(3)
  const network = createSimNetwork({ hears: () => false }, { clock, random })
  const at = { clock, random, network }
  const anna = await startSimNode({ signer: createSimSigner(random), neighbours: () => false }, at)
  const meetsAnna = (peer: string) => peer === anna.id
  const carl = await startSimNode({ signer: createSimSigner(random), neighbours: meetsAnna }, at)
  await clock.advance(5 * SECOND)
  carl.replicator.keepAnnounced('machines', '10.1.0.3', () => JSON.stringify({ PeerID: carl.id }))
  for (let note = 0; note < notes; note++) carl.ledger.put('notes', `note ${note}`, '""')
  await clock.advance(20 * SECOND)
  const start = async (bucket: string) => {
    const letIn = new Set<string>([anna.id])
    const bert = await startSimNode(
      { signer: createSimSigner(random), neighbours: meetsAnna, admits: (owner) => letIn.has(owner) },
      at,
    )
    letIn.add(bert.id)
    bert.ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      const named = event.changes.filter((change) => change.bucket === bucket)
      for (const { key } of named) letIn.add(key)
      if (named.length > 0) bert.ledger.admissionChanged()
    })
    return bert
  }
  return { clock, anna, carl, start }
}
