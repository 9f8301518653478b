import type { Datagram } from '@mesh/engine'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { DatagramTurns } from './datagram-turns.ts'
import { PROBES_TURN_MS } from './limits.ts'

/** Datagrams that wait for a receiver that takes a millisecond for each. */
function createReceiver() {
  const clock = createManualClock()
  const received: number[] = []
  let waiting: Datagram[] = []
  /** How many were looked at in each turn. */
  const inTurns: number[] = []
  let usedMs = 0
  const turns = new DatagramTurns({
    take: () => waiting.splice(0),
    receive({ length }) {
      received.push(length)
      usedMs++
    },
    clock: {
      now: () => clock.now(),
      monotonic: () => clock.monotonic() + usedMs,
      after: (delayMs, then) =>
        clock.after(delayMs, () => {
          const before = received.length
          then()
          inTurns.push(received.length - before)
        }),
    },
  })
  const come = (...numbers: readonly number[]) => {
    waiting = [...waiting, ...numbers.map((length) => ({ length }) as Datagram)]
    turns.look()
  }
  return { clock, turns, received, inTurns, come }
}

const numbers = (from: number, count: number) => Array.from({ length: count }, (_, at) => from + at)

test('few are looked at at once, many in turns and in their order, and those that come meanwhile after them', async () => {
  const { clock, received, inTurns, come } = createReceiver()
  come(0)
  expect(received).toEqual([0])
  come(...numbers(1, 100))
  come(...numbers(101, 20))
  expect(received.length).toBeLessThanOrEqual(PROBES_TURN_MS + 2)
  await clock.advance(1)
  expect(Math.max(...inTurns)).toBeLessThanOrEqual(PROBES_TURN_MS + 1)
  expect(received).toEqual(numbers(0, 121))
  come(121)
  await clock.advance(1)
  expect(received).toEqual(numbers(0, 122))
})

test('none is looked at after the end', async () => {
  const { clock, turns, received, come } = createReceiver()
  come(...numbers(0, 100))
  turns.stop()
  const before = received.length
  await clock.advance(100)
  expect(received.length).toBe(before)
})
