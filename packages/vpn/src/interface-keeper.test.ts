import { silentLogger } from '@mesh/core'
import type { Restored } from '@mesh/engine'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { InterfaceKeeper } from './interface-keeper.ts'
import { MAX_RESTORES, RESTORE_AFTER_MS, RESTORE_AGAIN_MS, RESTORE_WINDOW_MS } from './limits.ts'

const NOTHING: Restored = { restored: [], failed: [] }
const TAKEN: Restored = { restored: ['address 10.1.0.1/24'], failed: [] }

/** A keeper whose looks find these in turn, and then nothing. */
function keeping(...found: (Restored | Error)[]) {
  const clock = createManualClock()
  const told: (string | undefined)[] = []
  let looks = 0
  const keeper = new InterfaceKeeper(
    {
      name: 'mesh0',
      restore() {
        const next = found[looks++] ?? NOTHING
        if (next instanceof Error) throw next
        return next
      },
      onProblem: () => told.push(keeper.problem?.title),
    },
    { clock, log: silentLogger },
  )
  return { keeper, clock, told, looks: () => looks }
}

test('changes that come together are one look', async () => {
  const { keeper, clock, told, looks } = keeping(TAKEN)
  for (let change = 0; change < 9; change++) keeper.changed()
  await clock.advance(RESTORE_AFTER_MS)
  await clock.advance(RESTORE_WINDOW_MS)
  expect([looks(), told]).toEqual([1, []])
})

test('what the kernel refuses is told, and tried again until it is there', async () => {
  const refused = { restored: [], failed: ['address fd00::1/64: IPv6 is switched off'] }
  const { keeper, clock, told } = keeping(refused, refused, new Error('busy'), NOTHING)
  keeper.changed()
  await clock.advance(RESTORE_AFTER_MS)
  for (let again = 0; again < 3; again++) await clock.advance(RESTORE_AGAIN_MS)
  expect(told).toEqual([
    expect.stringContaining('IPv6 is switched off'),
    expect.stringContaining('busy'),
    undefined,
  ])
})

test('a program that takes things away again and again is told, and answered once a minute', async () => {
  const { keeper, clock, told, looks } = keeping(...Array.from({ length: MAX_RESTORES + 2 }, () => TAKEN))
  const change = async () => {
    keeper.changed()
    await clock.advance(RESTORE_AFTER_MS)
  }
  for (let round = 0; round < 3 * MAX_RESTORES; round++) await change()
  expect(looks()).toBe(MAX_RESTORES)
  expect(told).toEqual([expect.stringContaining('again and again: address 10.1.0.1/24')])
  // it goes on for two minutes, and then ends
  for (let minute = 1; minute <= 2; minute++) {
    await clock.advance(RESTORE_WINDOW_MS)
    await change()
    expect([looks(), told.length]).toEqual([MAX_RESTORES + minute, 1])
  }
  await clock.advance(RESTORE_WINDOW_MS)
  expect(told.at(-1)).toBeUndefined()
})

test('a stopped one looks no more', async () => {
  const { keeper, clock, looks } = keeping(TAKEN)
  keeper.changed()
  keeper.stop()
  await clock.advance(RESTORE_AFTER_MS)
  expect(looks()).toBe(0)
})
