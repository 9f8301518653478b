import { encodeBlock } from '@mesh/ledger'
import { expect, it } from 'vitest'
import { type BlockForm, blockFormOf } from './block-form.ts'

const hash = '993c9234'
const utf8 = (text: string) => new TextEncoder().encode(text)

it.each<[string, BlockForm, Uint8Array]>([
  ['our partial block', 'partial', encodeBlock([])],
  [
    'our whole ledger',
    'whole',
    encodeBlock([], { index: 0, timestamp: '2026-11-21', hash: '', prevHash: '' }),
  ],
  ['a legacy member’s block', 'legacy', encodeBlock([], { index: 7, timestamp: 't', hash, prevHash: 'b' })],
  [
    'a legacy member’s first block',
    'legacy',
    encodeBlock([], { index: 0, timestamp: 't', hash, prevHash: '' }),
  ],
  ['random text', 'unknown', utf8('hello')],
  ['nothing', 'unknown', utf8('')],
])('takes %s for %s', (_, form, json) => {
  expect(blockFormOf(json)).toBe(form)
})
