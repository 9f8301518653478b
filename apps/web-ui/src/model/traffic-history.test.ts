// @vitest-environment node
import type { TrafficHistoryView } from '@mesh/api-contract'
import { expect, test } from 'vitest'
import { joinHistory, largestFlows, stackSeries, stepsSince, timesOf } from './traffic-history.ts'

const END = Date.parse('2026-11-28T10:00:00Z')
const history = (steps: number, rates: readonly number[], Peers: TrafficHistoryView['Peers'] = []) => ({
  StepSeconds: 10,
  Until: new Date(END + steps * 10_000).toISOString(),
  In: [...rates],
  Out: rates.map((rate) => rate * 2),
  Peers,
  Protocols: [],
  Vpn: null,
})
const flow = (ID: string, ...In: number[]) => ({ ID, In, Out: In.map(() => 0) })

test('later steps go behind those that are known, and a step that comes again counts once', () => {
  const joined = joinHistory(history(0, [1, 2, 3]), history(1, [3, 4]))
  expect(joined?.In).toEqual([1, 2, 3, 4])
  expect(joined?.Out).toEqual([2, 4, 6, 8])
  expect(joined && timesOf(joined)).toEqual([-20, -10, 0, 10].map((offset) => END / 1_000 + offset))
  expect(joinHistory(history(0, [1, 2]), history(0, [1, 2]))?.In).toEqual([1, 2])
})

test('a peer that came or went has zeros where it was not', () => {
  const joined = joinHistory(history(0, [1, 2], [flow('a', 1, 2)]), history(1, [2, 5], [flow('b', 0, 5)]))
  expect(joined?.Peers).toEqual([
    { ID: 'a', In: [1, 2, 0], Out: [0, 0, 0] },
    { ID: 'b', In: [0, 0, 5], Out: [0, 0, 0] },
  ])
})

test('keeps an hour, and joins nothing over a hole or after a restart', () => {
  const hour = history(
    0,
    Array.from({ length: 360 }, () => 1),
  )
  expect(joinHistory(hour, history(2, [7, 8, 9]))?.In).toHaveLength(360)
  expect(joinHistory(hour, history(5, [7, 8]))).toBeUndefined()
  expect(joinHistory(hour, history(-3, [7, 8]))).toBeUndefined()
})

test('asks for as many steps as are missing', () => {
  expect(stepsSince(history(0, [1]), END + 3_000)).toBe(2)
  expect(stepsSince(history(0, [1]), END + 95_000)).toBe(11)
})

test('the largest flows stand alone, the others together', () => {
  const flows = [flow('', 1, 1), flow('a', 5, 0), flow('b', 9, 9), flow('c', 2, 2), flow('d', 0, 0)]
  expect(largestFlows(flows, 'in', 2)).toEqual([
    { id: 'b', rates: [9, 9] },
    { id: 'a', rates: [5, 0] },
    { id: '', rates: [3, 3] },
  ])
  expect(largestFlows(flows, 'out', 2)).toEqual([])
})

test('series stand on each other', () => {
  expect(
    stackSeries([
      [1, 2],
      [3, 4],
      [0, 1],
    ]),
  ).toEqual([
    [1, 2],
    [4, 6],
    [4, 7],
  ])
})
