import { expect, test } from 'vitest'
import { GatheredPieces } from './gathered-pieces.ts'

const numbered = (length: number, from = 0) => Uint8Array.from({ length }, (_, at) => (from + at) % 251)

test('pieces come out in order, short ones in blocks and long ones as they are', () => {
  const gathered = new GatheredPieces()
  const [long, longer] = [numbered(300), numbered(5_000, 7)]
  const added = [numbered(3), long, numbered(255, 9), numbered(2, 200), longer, numbered(1, 50)]
  for (const piece of added) gathered.add(piece)
  expect(gathered.byteLength).toBe(5_561)
  const pieces = gathered.take()
  expect(Buffer.concat(pieces)).toEqual(Buffer.concat(added))
  expect(pieces[1]).toBe(long)
  expect(pieces[3]).toBe(longer)
  expect([gathered.byteLength, gathered.take()]).toEqual([0, []])
})

test('a hundred thousand pieces of one byte take a few blocks', () => {
  const gathered = new GatheredPieces()
  for (let at = 0; at < 100_000; at++) gathered.add(Uint8Array.of(at))
  const pieces = gathered.take()
  expect(pieces.length).toBeLessThan(30)
  expect(Buffer.concat(pieces)).toEqual(Buffer.from(Array.from({ length: 100_000 }, (_, at) => at & 0xff)))
})
