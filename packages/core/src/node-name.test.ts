import { expect, test } from 'vitest'
import { isNodeName } from './node-name.ts'

test.each(['a', 'laptop', 'Web-01', '7', 'x'.repeat(63), 'a--b'])('%s is a name', (name) => {
  expect(isNodeName(name)).toBe(true)
})

test.each(['', '-a', 'a-', 'a.b', 'a_b', 'a b', 'é', 'a\n', '\u202Ea', 'x'.repeat(64)])(
  '%j is none',
  (name) => {
    expect(isNodeName(name)).toBe(false)
  },
)
