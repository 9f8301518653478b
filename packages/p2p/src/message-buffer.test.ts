import fc from 'fast-check'
import { expect, test } from 'vitest'
import { encodePrefix } from './length-prefix.ts'
import { MessageBuffer } from './message-buffer.ts'

test('messages come out as they went in, however they are cut', () => {
  const messages = fc.array(fc.uint8Array({ maxLength: 9_000 }), { maxLength: 6 })
  const cuts = fc.array(fc.integer({ min: 1, max: 5_000 }), { minLength: 1, maxLength: 20 })
  fc.assert(
    fc.property(messages, cuts, (given, lengths) => {
      const bytes = Buffer.concat(given.flatMap((message) => [encodePrefix(message.length), message]))
      const buffer = new MessageBuffer(10_000)
      const taken: unknown[] = []
      for (let at = 0, cut = 0; at < bytes.length; cut++) {
        const length = lengths[cut % lengths.length] ?? 1
        buffer.add(bytes.subarray(at, at + length))
        at += length
        for (let next = buffer.take(); next !== undefined; next = buffer.take()) taken.push(next)
      }
      expect(taken.map((message) => Buffer.from(message as Uint8Array))).toEqual(
        given.map((each) => Buffer.from(each)),
      )
      expect(buffer.byteLength).toBe(0)
    }),
    { numRuns: 60 },
  )
})

test('a small piece is copied: it keeps nothing else of the message that it came with', () => {
  const buffer = new MessageBuffer(10_000)
  const content = Uint8Array.from({ length: 9_000 }, (_, at) => at % 251)
  for (const byte of [...encodePrefix(content.length), ...content]) {
    const message = new Uint8Array(1_024)
    message[9] = byte
    buffer.add(message.subarray(9, 10))
    message.fill(0)
  }
  expect(Buffer.from(buffer.take() as Uint8Array).equals(content)).toBe(true)
})

test('a longer part of a Buffer is copied, too', () => {
  const buffer = new MessageBuffer(10_000)
  const block = Buffer.from(new ArrayBuffer(64 * 1_024))
  block.set([...encodePrefix(3_000)])
  buffer.add(block.subarray(0, 3_000 + encodePrefix(3_000).length))
  expect(buffer.take()?.length).toBe(3_000)
  block.set([...encodePrefix(3_000)])
  buffer.add(block.subarray(0, 3_000 + encodePrefix(3_000).length))
  const message = buffer.take()
  expect(message instanceof Uint8Array ? message.buffer.byteLength : 0).toBeLessThan(4_096)
})
