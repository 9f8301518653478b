import { expect, test } from 'vitest'
import { writer } from 'protons-runtime'
import { hasShape } from './message-shape.ts'

const SHAPE = { 1: { maxBytes: 4 }, 2: { shape: { 1: { maxBytes: 4 } } } }
const bounds = { shape: SHAPE, maxFields: 8 }

const tag = (field: number) => (field << 3) | 2
const messageOf = (...fields: readonly (readonly [number, Uint8Array])[]) => {
  const out = writer()
  for (const [field, bytes] of fields) out.uint32(tag(field)).bytes(bytes)
  return out.finish()
}
const short = new Uint8Array(4)
const long = new Uint8Array(5)

test('a message within its bounds has the shape, whatever else stands in it', () => {
  expect(hasShape(new Uint8Array(), bounds)).toBe(true)
  const all = messageOf([1, short], [2, messageOf([1, short])], [9, new Uint8Array(10_000)])
  expect(hasShape(all, bounds)).toBe(true)
  expect(
    hasShape(
      writer()
        .uint32(3 << 3)
        .uint32(7)
        .finish(),
      bounds,
    ),
  ).toBe(true)
})

test('a field that is too long is refused, in a message within the message too', () => {
  expect(hasShape(messageOf([1, long]), bounds)).toBe(false)
  expect(hasShape(messageOf([2, messageOf([1, long])]), bounds)).toBe(false)
})

test('fields are counted together, those of messages within too', () => {
  const four = messageOf([1, short], [1, short], [1, short])
  expect(hasShape(messageOf([2, four], [2, four]), bounds)).toBe(true)
  expect(hasShape(messageOf([2, four], [2, four], [1, short]), bounds)).toBe(false)
})

test('what is no message is refused: cut short, longer than what holds it, or with groups', () => {
  const whole = messageOf([2, messageOf([1, short])])
  expect(hasShape(whole.subarray(0, -1), bounds)).toBe(false)
  // the inner field goes on beyond the message that holds it
  expect(hasShape(Uint8Array.from([tag(2), 3, tag(1), 4, 0, 0, 0, 0]), bounds)).toBe(false)
  const group = (1 << 3) | 3
  expect(hasShape(new Uint8Array(100_000).fill(group), { ...bounds, maxFields: 1e6 })).toBe(false)
  expect(hasShape(new Uint8Array(20).fill(0xff), bounds)).toBe(false)
})
