import { expect, test } from 'vitest'
import { LoopTurns } from './loop-turns.ts'

/** A clock that stands still but for what works take, and what is to be done in the next turn. */
function createTurns() {
  let now = 0
  let next: (() => void)[] = []
  const turns = new LoopTurns(10, {
    monotonic: () => now,
    after: (_ms, work) => {
      next.push(work)
      return () => {}
    },
  })
  const turn = () => {
    const due = next
    next = []
    for (const work of due) work()
  }
  return { turns, turn, take: (ms: number) => void (now += ms), isIdle: () => next.length === 0 }
}

test('the time of one turn is used up by all together, and the next one has as much', () => {
  const { turns, turn, take } = createTurns()
  expect(turns.isTimeLeft()).toBe(true)
  take(9)
  expect(turns.isTimeLeft()).toBe(true)
  take(1)
  expect(turns.isTimeLeft()).toBe(false)
  turn()
  expect(turns.isTimeLeft()).toBe(true)
})

test('works have their turns in the order in which they asked, as many in each as there is time for', () => {
  const { turns, turn, take, isIdle } = createTurns()
  const done: number[] = []
  const work = (n: number) => () => {
    done.push(n)
    take(4)
  }
  for (let n = 1; n <= 5; n++) turns.later(work(n))
  expect(done).toEqual([])
  turn()
  expect(done).toEqual([1, 2, 3])
  turn()
  expect(done).toEqual([1, 2, 3, 4, 5])
  turn()
  expect(isIdle()).toBe(true)
})

test('what asks while others work waits behind them', () => {
  const { turns, turn, take } = createTurns()
  const done: string[] = []
  turns.later(() => {
    done.push('first')
    turns.later(() => done.push('again'))
    take(10)
  })
  turns.later(() => done.push('second'))
  turn()
  turn()
  expect(done).toEqual(['first', 'second', 'again'])
})

test('work that begins in a turn counts there, and its outcome is told', async () => {
  const { turns, turn, take } = createTurns()
  const begun: number[] = []
  const all = [1, 2, 3, 4, 5].map((n) =>
    turns.run(async () => {
      begun.push(n)
      take(4)
      if (n === 5) throw new Error('failed')
      return n
    }),
  )
  const outcomes = Promise.allSettled(all)
  expect(begun).toEqual([1, 2, 3])
  turn()
  expect(begun).toEqual([1, 2, 3, 4, 5])
  expect((await outcomes).map(({ status }) => status === 'fulfilled')).toEqual([
    true,
    true,
    true,
    true,
    false,
  ])
})

/** Each goes on when it may, and says so; what it does then takes so long. */
function goOnTogether(tookMs: number) {
  const { turns, turn, take } = createTurns()
  const done: number[] = []
  const goOn = async (n: number) => {
    const wait = turns.turn()
    if (wait !== undefined) await wait
    // as through a generator and who reads it
    for (let hop = 0; hop < 10; hop++) await Promise.resolve()
    done.push(n)
    take(tookMs)
  }
  return { goOn, done, turn: () => (turn(), nextTick()) }
}

test('those who wait to go on have a turn each where one needs all of it', async () => {
  const { goOn, done, turn } = goOnTogether(10)
  await goOn(1)
  const all = Promise.all([2, 3].map(goOn))
  await turn()
  expect(done).toEqual([1, 2])
  await turn()
  await all
  expect(done).toEqual([1, 2, 3])
})

test('of those who wait to go on as many do in a turn as there is time for, in their order', async () => {
  const { goOn, done, turn } = goOnTogether(4)
  for (const n of [1, 2, 3]) await goOn(n)
  const all = Promise.all([4, 5, 6, 7].map(goOn))
  await nextTick()
  expect(done).toEqual([1, 2, 3])
  await turn()
  expect(done).toEqual([1, 2, 3, 4, 5, 6])
  await turn()
  await all
  expect(done).toEqual([1, 2, 3, 4, 5, 6, 7])
})

test('a walk of few steps ends at once, and one of many gives way to other turns', () => {
  const { turns, turn, take, isIdle } = createTurns()
  const taken: number[] = []
  const outcomes: string[] = []
  function* steps(count: number) {
    for (let n = 1; n <= count; n++) {
      taken.push(n)
      take(4)
      yield
    }
    return `${count} steps`
  }
  turns.walk(steps(2), (outcome) => outcomes.push(outcome))
  expect(outcomes).toEqual(['2 steps'])
  turn()
  taken.length = 0
  turns.walk(steps(9), (outcome) => outcomes.push(outcome))
  // nobody knew when the first one began
  expect(taken).toEqual([1, 2, 3, 4])
  turn()
  expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7])
  turn()
  expect(outcomes).toEqual(['2 steps', '9 steps'])
  turn()
  expect(isIdle()).toBe(true)
})

test('a walk that was ended takes no further step', () => {
  const { turns, turn, take } = createTurns()
  let taken = 0
  function* steps() {
    for (;;) {
      taken++
      take(10)
      yield
    }
  }
  const end = turns.walk(steps(), () => expect.unreachable())
  end()
  turn()
  turn()
  expect(taken).toBe(2)
})

const nextTick = () => new Promise((resolve) => setImmediate(resolve))
