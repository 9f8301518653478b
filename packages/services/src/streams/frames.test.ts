import { watchCopies } from '@mesh/testkit'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { createFrameReader, encodeFrame } from './frames.ts'

test('frames come back whole and in order, however they were cut', () => {
  const frames = fc.array(fc.uint8Array({ maxLength: 300 }), { maxLength: 20 })
  fc.assert(
    fc.property(frames, fc.integer({ min: 1, max: 50 }), (sent, cut) => {
      const wire = Buffer.concat(sent.map(encodeFrame))
      const got: string[] = []
      const read = createFrameReader(300, (frame) => got.push(Buffer.from(frame).toString('hex')))
      for (let at = 0; at < wire.length; at += cut) expect(read(wire.subarray(at, at + cut))).toBe(true)
      expect(got).toEqual(sent.map((frame) => Buffer.from(frame).toString('hex')))
    }),
  )
})

test.each([0, 127, 128, 16_383, 16_384, 65_507])('a frame of %i bytes', (length) => {
  const got: number[] = []
  createFrameReader(65_507, ({ byteLength }) => got.push(byteLength))(encodeFrame(new Uint8Array(length)))
  expect(got).toEqual([length])
})

test('a frame over the bound is refused before it came, and nothing after it is read', () => {
  const read = createFrameReader(100, () => {})
  expect(read(Uint8Array.of(0x65))).toBe(false)
  expect(read(encodeFrame(Uint8Array.of(1)))).toBe(false)
})

test('a frame that comes byte by byte is not copied for each of them', () => {
  using copies = watchCopies()
  const got: string[] = []
  const sent = Buffer.alloc(20_000, 'sent ')
  const read = createFrameReader(65_507, (frame) => got.push(Buffer.from(frame).toString()))
  for (const byte of Buffer.from(encodeFrame(sent))) read(Uint8Array.of(byte))
  expect(got).toEqual([sent.toString()])
  expect(copies.bytes).toBeLessThan(10 * sent.byteLength)
})
