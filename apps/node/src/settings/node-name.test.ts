import { isNodeName } from '@mesh/core'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { nodeNameOf } from './node-name.ts'

test.each([
  ['laptop', 'laptop'],
  ['laptop.lan.example', 'laptop'],
  ["Ann's MacBook Pro", 'Ann-s-MacBook-Pro'],
  ['my_host', 'my-host'],
  ['-x-', 'x'],
  ['', 'node'],
  ['...', 'node'],
  ['日本', 'node'],
  [`${'a'.repeat(62)}-b`, 'a'.repeat(62)],
])('of the host %j it is %s', (hostname, name) => {
  expect(nodeNameOf(hostname)).toBe(name)
})

test('of any host name a name comes', () => {
  fc.assert(
    fc.property(fc.string({ unit: 'binary' }), (hostname) => {
      expect(isNodeName(nodeNameOf(hostname))).toBe(true)
    }),
  )
})
