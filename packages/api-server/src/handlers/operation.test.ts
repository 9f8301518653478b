import type { CheckView } from '@mesh/api-contract'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { DOCTOR_KEPT_MS } from '../limits.ts'
import type { DoctorPort } from '../operation-ports.ts'
import { createOperation } from './operation.ts'

const context = { bodyText: '', bytes: new Uint8Array() }

function setUp(doctor: DoctorPort) {
  const clock = createManualClock()
  const { runDoctor } = createOperation({ clock, doctor })
  return { clock, ask: async () => await runDoctor({}, context) }
}

const found = (Found: string): CheckView => ({ Name: 'clock', Verdict: 'ok', Found, Next: null })

test('one examination runs at a time, and its findings answer for five seconds', async () => {
  const runs: PromiseWithResolvers<readonly CheckView[]>[] = []
  const { clock, ask } = setUp(() => {
    const run = Promise.withResolvers<readonly CheckView[]>()
    runs.push(run)
    return run.promise
  })
  const early = [ask(), ask()]
  await clock.advance(2 * DOCTOR_KEPT_MS)
  early.push(ask())
  runs[0]?.resolve([found('first')])
  expect(await Promise.all(early)).toEqual(early.map(() => [found('first')]))
  await clock.advance(DOCTOR_KEPT_MS - 1)
  expect(await ask()).toEqual([found('first')])
  await clock.advance(1)
  const late = ask()
  runs[1]?.resolve([found('second')])
  expect([await late, runs.length]).toEqual([[found('second')], 2])
})

test('an examination that failed is tried again after the same time', async () => {
  let count = 0
  const { clock, ask } = setUp(async () => {
    count++
    throw new Error('no files')
  })
  await expect(ask()).rejects.toThrow('no files')
  await expect(ask()).rejects.toThrow('no files')
  expect(count).toBe(1)
  await clock.advance(DOCTOR_KEPT_MS)
  await expect(ask()).rejects.toThrow('no files')
  expect(count).toBe(2)
})

test('without the ports there is no log, no examination and no setting', async () => {
  const { readLog, runDoctor, listSettings } = createOperation({ clock: createManualClock() })
  expect(() => readLog({}, context)).toThrow(expect.objectContaining({ code: 'node.no_log' }))
  await expect(async () => runDoctor({}, context)).rejects.toMatchObject({ code: 'node.not_ready' })
  expect(listSettings({}, context)).toEqual([])
})
