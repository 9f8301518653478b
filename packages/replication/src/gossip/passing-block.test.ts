import { expect, it } from 'vitest'
import { blockFormOf } from './block-form.ts'
import { PassingBlock } from './passing-block.ts'

const OURS = '{"Index":0,"Timestamp":"","Storage":{"notes":{}},"Hash":"","PrevHash":""}'
const THEIRS = '{"Index":3,"Timestamp":"t","Storage":{"notes":{}},"Hash":"h","PrevHash":"p"}'

function pass(text: string, length: number, fault?: Error): PassingBlock {
  async function* pieces() {
    for (let at = 0; at < text.length; at += length) yield Buffer.from(text.slice(at, at + length))
    if (fault !== undefined) throw fault
  }
  return new PassingBlock(pieces())
}

it.each([OURS, THEIRS, OURS.replace('""', '"t"'), '{}', '{"Index":0}'])(
  'tells the form of a block however it is cut: %s',
  async (text) => {
    for (const length of [1, 2, 7, 24, 30, 1_000]) {
      const block = pass(text, length)
      // whoever reads it may stop early
      await block[Symbol.asyncIterator]().next()
      await block.drain()
      expect(block.form).toBe(blockFormOf(Buffer.from(text)))
    }
  },
)

it('tells that a block turned out to be no gzip', async () => {
  const block = pass(OURS, 10, new Error('checksum'))
  await expect(block.drain()).rejects.toThrow('checksum')
  expect(block.hasFailed).toBe(true)
})
