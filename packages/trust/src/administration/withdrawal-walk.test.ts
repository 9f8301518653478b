import type { PeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { WITHDRAWAL_REST_MS } from '../limits.ts'
import { WithdrawalWalk } from './withdrawal-walk.ts'

const [ANNA, BERT] = ['anna', 'bert'] as PeerId[] as [PeerId, PeerId]

/** A ledger in which each walk takes five steps and two entries in each. */
function createWalk() {
  const clock = createManualClock()
  const steps: string[] = []
  const withdrawn: number[] = []
  const walk = new WithdrawalWalk({
    ledger: {
      withdraw(owners, _, from) {
        const at = Number(from?.key ?? 0)
        steps.push(`${[...owners].join()} ${at}`)
        return { count: 2, next: at === 4 ? undefined : { bucket: 'b', key: String(at + 1) } }
      },
    },
    keeps: () => false,
    onWithdrawn: (entries) => withdrawn.push(entries),
    clock,
  })
  return { clock, steps, withdrawn, walk }
}

test('others have their turn between its steps', async () => {
  const { clock, steps, withdrawn, walk } = createWalk()
  walk.begin(new Set([ANNA]))
  expect(steps).toEqual(['anna 0'])
  await clock.advance(2 * WITHDRAWAL_REST_MS)
  expect([steps.length, withdrawn]).toEqual([3, []])
  await clock.advance(10 * WITHDRAWAL_REST_MS)
  expect([steps.length, withdrawn]).toEqual([5, [10]])
})

test('what is due while one is under way has the next one', async () => {
  const { clock, steps, withdrawn, walk } = createWalk()
  walk.begin(new Set([ANNA]))
  await clock.advance(WITHDRAWAL_REST_MS)
  for (const owner of [BERT, ANNA]) walk.begin(new Set([owner]))
  await clock.advance(20 * WITHDRAWAL_REST_MS)
  expect(steps.slice(4, 7)).toEqual(['anna 4', 'bert,anna 0', 'bert,anna 1'])
  expect([steps.length, withdrawn, clock.pending]).toEqual([10, [10, 10], 0])
})

test('nothing goes on after its stop', async () => {
  const { clock, steps, walk } = createWalk()
  walk.begin(new Set([ANNA]))
  walk.begin(new Set([BERT]))
  walk.stop()
  await clock.advance(20 * WITHDRAWAL_REST_MS)
  expect([steps.length, clock.pending]).toEqual([1, 0])
})
