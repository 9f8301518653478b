import { Uint8ArrayList } from 'uint8arraylist'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FrameQueue } from './frame-queue.ts'

const MB = 1024 * 1024

/** Bytes that tell their place. */
const bytesFrom = (start: number, length: number) =>
  Uint8Array.from({ length }, (_, at) => ((start + at) * 31) % 251)

test('bytes come out as they came in, however they are cut', () => {
  const sizes = fc.array(fc.integer({ min: 0, max: 100_000 }), { maxLength: 12 })
  fc.assert(
    fc.property(sizes, fc.array(fc.integer({ min: 1, max: 150_000 }), { maxLength: 12 }), (pieces, cuts) => {
      const queue = new FrameQueue()
      let [came, taken] = [0, 0]
      for (const [at, length] of pieces.entries()) {
        const bytes = bytesFrom(came, length)
        queue.append(at % 2 === 0 ? bytes : new Uint8ArrayList(bytes.subarray(0, 7), bytes.subarray(7)))
        came += length
        const cut = cuts[at] ?? came
        if (queue.byteLength < cut) continue
        const from = Math.min(cut, 2)
        expect(queue.take(from, cut)).toEqual(bytesFrom(taken + from, cut - from))
        taken += cut
      }
      expect(queue.byteLength).toBe(came - taken)
    }),
    { numRuns: 60 },
  )
})

test('what was taken stays as it was when its blocks are used again', () => {
  const queue = new FrameQueue()
  const frame = bytesFrom(0, 300_000)
  queue.append(frame)
  const taken = queue.take(0, frame.length)
  queue.append(new Uint8Array(300_000).fill(1))
  expect(taken).toEqual(frame)
})

test('long frames that are dropped over and over take the memory of one', () => {
  const before = process.memoryUsage().arrayBuffers
  let most = 0
  for (let round = 0; round < 20; round++) {
    const queue = new FrameQueue()
    // one buffer of the sender is enough here: what it holds is copied
    const piece = new Uint8Array(MB)
    for (let at = 0; at < 10; at++) queue.append(piece)
    most = Math.max(most, process.memoryUsage().arrayBuffers - before)
    queue.clear()
  }
  expect(most).toBeGreaterThan(9 * MB)
  expect(most).toBeLessThan(60 * MB)
})

test('a small piece is copied: it keeps nothing else of the message that it came with', () => {
  const queue = new FrameQueue()
  for (let at = 0; at < 5_000; at++) {
    const message = new Uint8Array(1_024)
    message[9] = at % 251
    queue.append(message.subarray(9, 10))
    message.fill(0)
  }
  expect(queue.get(4_000)).toBe(4_000 % 251)
  expect(queue.take(0, 5_000)).toEqual(Uint8Array.from({ length: 5_000 }, (_, at) => at % 251))
  expect(queue.byteLength).toBe(0)
})
