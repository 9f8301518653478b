import { expect, test } from 'vitest'
import { type Lane, loopBudget } from './loop-budget.ts'

/** A clock that stands still but for what works take, and what is to be done in the next turn. */
function createBudget() {
  let now = 0
  let next: (() => void)[] = []
  const clock = {
    monotonic: () => now,
    after: (_ms: number, work: () => void) => {
      next.push(work)
      return () => {}
    },
  }
  const turn = () => {
    const due = next
    next = []
    for (const work of due) work()
    return nextTick()
  }
  return {
    clock,
    budget: loopBudget(clock),
    turn,
    take: (ms: number) => void (now += ms),
    isIdle: () => next.length === 0,
  }
}

test('a clock has one budget', () => {
  const { clock, budget } = createBudget()
  expect(loopBudget(clock)).toBe(budget)
})

test('a process that waits for a turn and does nothing else stays alive', () => {
  const asked: unknown[] = []
  const after = (_ms: number, _work: () => void, options?: object) => {
    asked.push(options)
    return () => {}
  }
  loopBudget({ monotonic: () => 0, after }).later('members', () => {})
  expect(asked).toEqual([{ keepAlive: true }])
})

test('all lanes use the same turn, and the more important ones more of it', async () => {
  const { budget, turn, take } = createBudget()
  const lanes: Lane[] = ['health', 'control', 'members', 'strangers', 'background']
  const left = () => lanes.filter((lane) => budget.isTimeLeft(lane))
  expect(left()).toEqual(lanes)
  take(6)
  expect(left()).toEqual(['health', 'control', 'members', 'strangers'])
  take(4)
  expect(left()).toEqual(['health', 'control', 'members'])
  take(6)
  expect(left()).toEqual(['health', 'control'])
  take(4)
  expect(left()).toEqual([])
  await turn()
  expect(left()).toEqual(lanes)
})

test('waiting work goes on in order, as much in each turn as there is time for', async () => {
  const { budget, turn, take, isIdle } = createBudget()
  const done: number[] = []
  for (let n = 1; n <= 6; n++)
    budget.later('members', () => {
      done.push(n)
      take(6)
    })
  expect(done).toEqual([])
  await turn()
  expect(done).toEqual([1, 2, 3])
  await turn()
  expect(done).toEqual([1, 2, 3, 4, 5, 6])
  await turn()
  expect(isIdle()).toBe(true)
})

test('more important lanes go first, and each lane begins one piece of work in a turn', async () => {
  const { budget, turn, take } = createBudget()
  const done: string[] = []
  for (const lane of ['background', 'strangers', 'members', 'health'] as const)
    for (const n of [1, 2])
      budget.later(lane, () => {
        done.push(`${lane} ${n}`)
        take(12)
      })
  await turn()
  expect(done).toEqual(['health 1', 'health 2', 'members 1', 'strangers 1', 'background 1'])
  await turn()
  expect(done.slice(5)).toEqual(['members 2', 'strangers 2', 'background 2'])
})

test('a key with much work delays another key by one piece of it', async () => {
  const { budget, turn } = createBudget()
  const done: string[] = []
  for (const n of [1, 2, 3]) budget.later('strangers', () => done.push(`loud ${n}`), 'loud')
  budget.later('strangers', () => done.push('quiet 1'), 'quiet')
  await turn()
  expect(done).toEqual(['loud 1', 'quiet 1', 'loud 2', 'loud 3'])
})

test('work that begins in a turn counts there, and its outcome is told', async () => {
  const { budget, turn, take } = createBudget()
  const begun: number[] = []
  const all = [1, 2, 3, 4, 5].map((n) =>
    budget.run('members', async () => {
      begun.push(n)
      take(6)
      if (n === 5) throw new Error('failed')
      return n
    }),
  )
  const outcomes = Promise.allSettled(all)
  expect(begun).toEqual([1, 2, 3])
  await turn()
  expect(begun).toEqual([1, 2, 3, 4, 5])
  const failed = (await outcomes).map(({ status }) => status === 'rejected')
  expect(failed).toEqual([false, false, false, false, true])
})

test('of those that wait for a turn as many go on as there is time for', async () => {
  const { budget, turn, take } = createBudget()
  const done: number[] = []
  const goOn = async (n: number) => {
    const wait = budget.turn('members')
    if (wait !== undefined) await wait
    // as through a generator and its reader
    for (let hop = 0; hop < 10; hop++) await Promise.resolve()
    done.push(n)
    take(6)
  }
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

test('a wait ends with its signal, and the others go on', async () => {
  const { budget, turn, take } = createBudget()
  expect(budget.turn('members')).toBeUndefined()
  take(20)
  const abort = new AbortController()
  const ended = budget.turn('members', { signal: abort.signal })
  const other = budget.turn('members')
  abort.abort(new Error('too long'))
  await expect(ended).rejects.toThrow('too long')
  await turn()
  await other
  take(20)
  await expect(budget.run('members', async () => 1, { signal: abort.signal })).rejects.toThrow('too long')
})

test('a short walk ends at once, and a long one leaves time to others', async () => {
  const { budget, turn, take, isIdle } = createBudget()
  const taken: number[] = []
  const outcomes: string[] = []
  function* steps(count: number) {
    for (let n = 1; n <= count; n++) {
      taken.push(n)
      take(6)
      yield
    }
    return `${count} steps`
  }
  budget.walk('members', steps(2), (outcome) => outcomes.push(outcome))
  expect(outcomes).toEqual(['2 steps'])
  await turn()
  taken.length = 0
  budget.walk('members', steps(9), (outcome) => outcomes.push(outcome))
  expect(taken).toEqual([1, 2, 3, 4])
  await turn()
  expect(taken).toEqual([1, 2, 3, 4, 5, 6, 7])
  await turn()
  expect(outcomes).toEqual(['2 steps', '9 steps'])
  await turn()
  expect(isIdle()).toBe(true)
})

test('a walk that was ended takes no further step', async () => {
  const { budget, turn, take } = createBudget()
  let taken = 0
  function* steps() {
    for (;;) {
      taken++
      take(20)
      yield
    }
  }
  const end = budget.walk('background', steps(), () => expect.unreachable())
  end()
  await turn()
  await turn()
  expect(taken).toBe(2)
})

const nextTick = () => new Promise((resolve) => setImmediate(resolve))
