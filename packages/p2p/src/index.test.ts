import { expect, test } from 'vitest'
import * as p2p from './index.ts'
import * as node from './node.ts'
import * as testing from './testing.ts'

test('has these public names', () => {
  expect(Object.keys(p2p)).toEqual([])
  expect(Object.keys(node).sort()).toEqual(['DEFAULT_SWITCHES', 'createP2pNode'])
  expect(Object.keys(testing).sort()).toEqual(['createMemoryNode'])
})
