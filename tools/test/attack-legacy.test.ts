/** Attacks on EdgeVPN nodes: each is made there, or it is told why it has no meaning, in the table as in JSON. */
import { expect, test } from 'vitest'
import { DATAGRAM_ATTACKS } from '../attack/datagrams.ts'
import { formatMeasured } from '../attack/report.ts'
import { SCENARIOS } from '../attack/scenarios.ts'

test('every attack says how it is made on a legacy node, or in a few words why not', () => {
  const whys = [...SCENARIOS, ...DATAGRAM_ATTACKS].map(({ name, legacy }) =>
    'meaningless' in legacy ? { name, why: legacy.meaningless } : undefined,
  )
  const told = whys.filter((each) => each !== undefined)
  expect(told.filter(({ why }) => !/^\S.{5,70}[^\s.]$/.test(why))).toEqual([])
  expect(told.length).toBeLessThan(SCENARIOS.length / 2)
})

test('what has no meaning there is told as a row of its own', () => {
  const passedOver = [
    { name: 'control-exchanges', who: 'member', meaningless: 'no control channel' },
  ] as const
  expect(formatMeasured([], passedOver)).toContain('no meaning there: no control channel')
})
