import { leaderOf } from '@mesh/ledger'
import { describe, expect, it } from 'vitest'
import { type ElectionView, LeaseElection } from './lease-election.ts'

const ids = ['a', 'b', 'c', 'self']
/** The order of election. */
const order = (waiting: readonly string[]): string[] => {
  const first = leaderOf(waiting)
  return first === undefined ? [] : [first, ...order(waiting.filter((id) => id !== first))]
}
const [first = '', second = '', third = ''] = order(ids)
const view = (waiting: readonly string[], leader?: string, ours: readonly string[] = []): ElectionView => ({
  waiting,
  asking: [],
  leader,
  isLive: () => true,
  isOurs: (peer) => ours.includes(peer),
})

describe('a turn', () => {
  it('is at once when nobody else waits', () => {
    expect(new LeaseElection('self').next(view(['self'], 'gone'), 0)).toEqual({ type: 'take' })
  })

  it('begins with naming oneself and comes when that has settled', () => {
    const turn = new LeaseElection(first)
    expect(turn.next(view(ids, 'gone'), 0)).toEqual({ type: 'lead' })
    expect(turn.next(view(ids, first), 20)).toEqual({ type: 'wait', for: first, untilMs: 520 })
    expect(turn.next(view(ids, first), 520)).toEqual({ type: 'take' })
  })

  it('waits for an legacy leader for 20 s and for one of ours for 5 s', () => {
    expect(new LeaseElection(first).next(view(ids, third), 0)).toEqual({
      type: 'wait',
      for: third,
      untilMs: 20_000,
    })
    const turn = new LeaseElection(first)
    expect(turn.next(view(ids, third, [third]), 0)).toEqual({ type: 'wait', for: third, untilMs: 5_000 })
    expect(turn.next(view(ids, third, [third]), 5_000)).toEqual({ type: 'lead' })
    expect(turn.unheard).toBe(1)
  })

  it('passes over silent ones ever faster', () => {
    const turn = new LeaseElection(third)
    expect(turn.next(view(ids), 0)).toMatchObject({ for: first, untilMs: 12_000 })
    expect(turn.next(view(ids), 12_000)).toMatchObject({ for: second, untilMs: 13_000 })
    expect(turn.next(view(ids), 13_000)).toEqual({ type: 'lead' })
    expect(turn.unheard).toBe(0)
  })

  it('gives whoever is named anew another chance', () => {
    const turn = new LeaseElection(third)
    turn.next(view(ids, first), 0)
    turn.next(view(ids, first), 20_000)
    turn.next(view(ids, second), 20_100)
    expect(turn.next(view(ids, first), 20_200)).toEqual({ type: 'wait', for: first, untilMs: 40_200 })
  })

  it('is shared by those who ask: at once among themselves, and as soon as one of them leads beside others', () => {
    const asking = { ...view(ids), asking: ids }
    expect(new LeaseElection(third).next(asking, 0)).toEqual({ type: 'take' })
    const turn = new LeaseElection(third)
    const beside = { ...asking, waiting: [...ids, 'legacy'] }
    const leads = { ...beside, leader: first }
    expect(turn.next(leads, 0)).toEqual({ type: 'wait', for: first, untilMs: 500 })
    expect(turn.next(leads, 500)).toEqual({ type: 'take' })
    expect(turn.next({ ...beside, leader: 'legacy' }, 600)).toMatchObject({ type: 'wait', for: 'legacy' })
  })

  it('skips those that are gone', () => {
    const turn = new LeaseElection(second)
    expect(turn.next({ ...view(ids, first), isLive: (peer) => peer !== first }, 0)).toEqual({ type: 'lead' })
  })
})
