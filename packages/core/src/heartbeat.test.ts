import { expect, test } from 'vitest'
import { heartbeatValue, parseHeartbeat } from './heartbeat.ts'

test.each([
  ['2026-08-12T13:06:40Z', Date.UTC(2026, 7, 12, 13, 6, 40)],
  ['2026-08-12T13:06:40.250Z', Date.UTC(2026, 7, 12, 13, 6, 40, 250)],
  ['2026-08-12T15:06:40+02:00', Date.UTC(2026, 7, 12, 13, 6, 40)],
  ['2024-02-29T00:00:00Z', Date.UTC(2024, 1, 29)],
  ['2026-02-29T00:00:00Z', undefined],
  ['2026-13-01T00:00:00Z', undefined],
  ['2026-08-12T24:00:00Z', undefined],
  ['2026-08-12 13:06:40Z', undefined],
  ['2026-08-12T13:06:40', undefined],
  ['Wed Aug 12', undefined],
])('%s is the time %s', (text, ms) => {
  expect(parseHeartbeat(JSON.stringify(text))).toBe(ms)
})

test('a heartbeat is whole seconds as JSON text, and anything else is none', () => {
  expect(heartbeatValue(Date.UTC(2026, 7, 12, 13, 6, 40, 999))).toBe('"2026-08-12T13:06:40Z"')
  expect(parseHeartbeat('"2026-08-12T13:06:40Z"')).toBe(Date.UTC(2026, 7, 12, 13, 6, 40))
  for (const text of ['2026-08-12T13:06:40Z', '7', '', '{"a":1}', `"${'x'.repeat(200)}"`]) {
    expect(parseHeartbeat(text)).toBeUndefined()
  }
})
