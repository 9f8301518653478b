import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodeHeader, encodeShortFrame, FRAME, FrameReader, type FrameType } from './frames.ts'

function readAll(chunks: readonly Uint8Array[]) {
  const heard: string[] = []
  const reader = new FrameReader({
    mayRead: () => true,
    onData: (bytes) => void heard.push(Buffer.from(bytes).toString()),
    onControl: (type: FrameType, payload) => void heard.push(`<${type}:${Buffer.from(payload).toString()}>`),
  })
  const isWhole = chunks.every((chunk) => reader.read(chunk) !== undefined)
  return { heard: heard.join(''), isWhole }
}

const STREAM = Buffer.concat([
  encodeShortFrame(FRAME.open, Buffer.from('/mesh/test/1')),
  encodeShortFrame(FRAME.data, Buffer.from('hello ')),
  encodeShortFrame(FRAME.data, Buffer.from('')),
  encodeShortFrame(FRAME.data, Buffer.from('world')),
  encodeHeader(FRAME.end, 0),
  encodeHeader(FRAME.ping, 0),
])
const HEARD = '<1:/mesh/test/1>hello world<2:><3:>'

test('frames come out the same wherever they were cut', () => {
  fc.assert(
    fc.property(fc.array(fc.nat(STREAM.byteLength), { maxLength: 20 }), (cuts) => {
      const at = [0, ...cuts.toSorted((a, b) => a - b), STREAM.byteLength]
      const chunks = at.slice(1).map((end, index) => STREAM.subarray(at[index], end))
      expect(readAll(chunks)).toEqual({ heard: HEARD, isWhole: true })
    }),
  )
})

test('a reader that may not read on gives back what it did not read', () => {
  let isPaused = false
  const heard: string[] = []
  const reader = new FrameReader({
    mayRead: () => !isPaused,
    onData(bytes) {
      heard.push(Buffer.from(bytes).toString())
      isPaused = true
    },
    onControl: () => {},
  })
  const rest = reader.read(STREAM)
  expect(heard).toEqual(['hello '])
  isPaused = false
  expect(reader.read(rest as Uint8Array)?.byteLength).toBe(0)
  expect(heard).toEqual(['hello ', 'world'])
})

test.each([
  ['a type that does not exist', Buffer.from([9, 0, 0, 0])],
  ['an end with a payload', Buffer.from([2, 0, 0, 1, 0])],
  ['an open with too long a name', Buffer.from([1, 0, 1, 0])],
])('%s is no frame', (_name, bytes) => {
  expect(readAll([bytes]).isWhole).toBe(false)
})

test('whatever comes, reading does not throw', () => {
  fc.assert(
    fc.property(fc.array(fc.uint8Array({ maxLength: 50 })), (chunks) => {
      expect(() => readAll(chunks)).not.toThrow()
    }),
  )
})
