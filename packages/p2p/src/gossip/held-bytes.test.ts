import { expect, test } from 'vitest'
import { createHeldBytes, TooMuchHeldError } from './held-bytes.ts'

const MIB = 1024 * 1024

test('what strangers hold together is bounded, what members hold is not counted', () => {
  const held = createHeldBytes((peer) => peer === 'member')
  const strangers = Array.from({ length: 4 }, (_, index) => held.track(`stranger-${index}`))
  for (const hold of strangers.slice(0, 3)) hold(20 * MIB)
  held.track('member')(200 * MIB)
  const [first, , , last] = strangers
  expect(() => last?.(5 * MIB)).toThrow(TooMuchHeldError)
  // who was refused lets go of it, and small frames always pass
  last?.(0)
  held.track('another')(1000)
  first?.(0)
  last?.(20 * MIB)
})
