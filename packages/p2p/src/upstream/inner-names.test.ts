import { MeshError } from '@mesh/core'
import { expect, test } from 'vitest'
import { openInner } from './inner-names.ts'

interface Inner {
  handle(): void
  readonly store: object
}

test('gives the part where all names are there', () => {
  const part = { handle() {}, store: {} }
  expect(openInner<Inner>('@libp2p/any 1.0.0', part, ['handle', 'store'])).toBe(part)
})

test.each([[{ store: {} }], [undefined]])('ends the start where a name is missing: %j', (part) => {
  const open = () => openInner<Inner>('@libp2p/any 1.0.0', part, ['handle'])
  expect(open).toThrow(MeshError)
  expect(open).toThrow(
    expect.objectContaining({ code: 'p2p.incompatible_library', details: { missing: ['handle'] } }),
  )
})
