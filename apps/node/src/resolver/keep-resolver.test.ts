import type { HealthProblem } from '@mesh/api-server'
import { silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { keepResolver, notConfigured } from './keep-resolver.ts'

const MINUTE_MS = 60_000

async function startKeeper() {
  const clock = createManualClock()
  const state = { isInPlace: false, applied: 0, problem: undefined as HealthProblem | undefined }
  let look = () => {}
  const stop = await keepResolver(
    {
      by: 'the file',
      apply() {
        state.applied++
        state.isInPlace = true
        return undefined
      },
      isInPlace: () => state.isInPlace,
      watch(onChange) {
        look = onChange
        return () => (look = () => {})
      },
    },
    {
      clock,
      random: createSeededRandom(1),
      log: silentLogger,
      setProblem: (problem) => (state.problem = problem),
    },
  )
  const undo = async () => {
    state.isInPlace = false
    look()
    await clock.advance(0)
  }
  return { clock, state, undo, stop, look: () => look() }
}

test('a change that another program undid is told, made again, and then told no more', async () => {
  const { clock, state, undo } = await startKeeper()
  await undo()
  expect(state.problem).toMatchObject({
    code: 'dns.configuration_undone',
    title: expect.stringContaining('the file') as string,
  })
  await clock.advance(1_000)
  expect(state).toMatchObject({ isInPlace: true, applied: 2, problem: undefined })
})

test('a program that undoes it each time is answered ever more rarely', async () => {
  const { clock, state, undo } = await startKeeper()
  for (let minute = 0; minute < 120; minute++) {
    if (state.isInPlace) await undo()
    await clock.advance(MINUTE_MS)
  }
  expect(state.applied).toBeGreaterThan(10)
  expect(state.applied).toBeLessThan(35)
})

test('after it has stood for a while it is made again at once', async () => {
  const { clock, state, undo } = await startKeeper()
  for (let turn = 0; turn < 10; turn++) {
    await undo()
    await clock.advance(20 * MINUTE_MS)
  }
  const { applied } = state
  await undo()
  await clock.advance(1_000)
  expect(state.applied).toBe(applied + 1)
})

test('a keeper that was stopped writes nothing', async () => {
  const { clock, state, undo, stop } = await startKeeper()
  await undo()
  stop()
  await clock.advance(MINUTE_MS)
  expect(state.applied).toBe(1)
  expect(clock.pending).toBe(0)
})

test('a change that cannot be made is told until it can', async () => {
  const { clock, state, undo } = await startKeeper()
  state.problem = notConfigured('the disk is read-only')
  await undo()
  await clock.advance(1_000)
  expect(state.problem).toBeUndefined()
})
