import { expect, it } from 'vitest'
import { REFUSAL_KEPT_MS, REFUSAL_RETRY_MS } from '../limits.ts'
import { createRefusalMemory } from './refusals.ts'

it.each(['FUTURE', 'REPLAYED'])('forgets a refusal for %s soon, and one for a bad signature late', (code) => {
  const memory = createRefusalMemory()
  memory.add('soon', code, 0)
  memory.add('forged', 'BAD_SIG', 0)
  expect(memory.has('soon', REFUSAL_RETRY_MS - 1)).toBe(true)
  expect(memory.has('soon', REFUSAL_RETRY_MS)).toBe(false)
  expect(memory.has('forged', REFUSAL_RETRY_MS)).toBe(true)
  expect(memory.has('forged', REFUSAL_KEPT_MS)).toBe(false)
})

it.each([480_000, 80_000])('forgets what hangs on a lease of %i ms before that has ended', (livenessMs) => {
  const memory = createRefusalMemory({ livenessMs })
  for (const code of ['NOT_OWNER', 'TOMB_NOT_OWNER', 'QUOTA']) {
    memory.add(code, code, 0)
    expect([memory.has(code, livenessMs / 2), memory.has(code, livenessMs)]).toEqual([true, false])
  }
})

it('does not hold back what came before the entry that it needs', () => {
  const memory = createRefusalMemory()
  for (const code of ['TOMB_UNKNOWN', 'NOT_YET']) {
    memory.add(code, code, 0)
    expect(memory.has(code, 0)).toBe(false)
  }
})

it('forgets what was refused for a reason that does not hold any more', () => {
  const memory = createRefusalMemory()
  memory.add('gated', 'GATED', 0)
  memory.add('forged', 'BAD_SIG', 0)
  memory.forget('GATED')
  expect(['gated', 'forged'].map((id) => memory.has(id, 0))).toEqual([false, true])
  for (const id of ['peer a', 'peer b']) memory.add(id, 'FUTURE', 0)
  memory.forget('FUTURE', 'peer a')
  expect(['peer a', 'peer b', 'forged'].map((id) => memory.has(id, 0))).toEqual([false, true, true])
})

it('forgets the oldest first when it is full', () => {
  const memory = createRefusalMemory({ capacity: 2 })
  for (const id of ['a', 'b', 'a', 'c']) memory.add(id, 'BAD_SIG', 0)
  expect(['a', 'b', 'c'].filter((id) => memory.has(id, 1))).toEqual(['a', 'c'])
  expect(memory.size).toBe(2)
})
