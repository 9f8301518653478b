import { expect, test } from 'vitest'
import { createLogTail, type TailLine } from './log-tail.ts'

const line = (text: string): TailLine => ({ time: 0, level: 'info', subsystem: 'api', text })

test('the last 1,000 lines are kept, and their numbers go on', () => {
  const tail = createLogTail()
  expect(tail.lines(0)).toEqual({ Lines: [], Next: 0 })
  for (let at = 1; at <= 1_200; at++) tail.note(line(String(at)))
  const { Lines, Next } = tail.lines(0)
  expect([Lines.length, Lines[0]?.Sequence, Lines[0]?.Text, Next]).toEqual([1_000, 201, '201', 1_200])
  expect(tail.lines(1_198).Lines.map(({ Sequence, Text }) => [Sequence, Text])).toEqual([
    [1_199, '1199'],
    [1_200, '1200'],
  ])
})

test('long lines leave place for fewer', () => {
  const tail = createLogTail()
  for (let at = 0; at < 100; at++) tail.note(line('x'.repeat(10_000)))
  expect(tail.lines(0).Lines).toHaveLength(Math.floor((512 * 1024) / 10_003))
})
