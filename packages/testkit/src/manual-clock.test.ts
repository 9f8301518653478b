import { describe, expect, it } from 'vitest'
import { createManualClock } from './manual-clock.ts'
import { createSeededRandom } from './seeded-random.ts'

describe('the manual clock', () => {
  it('runs what is due in order of time, then of registration, and nothing else', async () => {
    const clock = createManualClock(0)
    const random = createSeededRandom(1)
    const ran: { at: number; order: number }[] = []
    for (let order = 0; order < 500; order++) {
      const at = Math.floor(random.float() * 50)
      clock.after(at, () => ran.push({ at: clock.now(), order }))
    }
    await clock.advance(24)
    expect(ran.every(({ at }) => at <= 24)).toBe(true)
    await clock.advance(26)
    expect(ran).toEqual(ran.toSorted((a, b) => a.at - b.at || a.order - b.order))
    expect(ran).toHaveLength(500)
    expect(clock.pending).toBe(0)
  })

  it('forgets what is cancelled, once', async () => {
    const clock = createManualClock(0)
    let runs = 0
    const cancel = clock.after(5, () => runs++)
    clock.after(6, () => runs++)
    cancel()
    cancel()
    expect(clock.pending).toBe(1)
    await clock.advance(10)
    expect([runs, clock.pending, clock.now()]).toEqual([1, 0, 10])
  })

  it('runs within one advance what callbacks and their promises set up', async () => {
    const clock = createManualClock(0)
    const seen: number[] = []
    clock.after(1, () => {
      void Promise.resolve().then(() => clock.after(1, () => seen.push(clock.now())))
    })
    await clock.advance(2)
    expect(seen).toEqual([2])
  })
})
