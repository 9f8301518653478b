import { createManualClock } from '@mesh/testkit'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createCompression } from './compression.ts'

const compression = createCompression(createManualClock())
const text = new TextEncoder().encode('{"Index":0}'.repeat(5000))
const MB = 1024 * 1024

const gunzip = async (gzip: Uint8Array, maxBytes: number) => await compression.gunzip(gzip, maxBytes)

it.each([1e6, 3 * MB])('reads what it wrote, and what another encoder wrote, up to %d', async (maxBytes) => {
  expect(await gunzip(await compression.gzip(text), maxBytes)).toEqual(text)
  expect(await gunzip(gzipSync(text), maxBytes)).toEqual(text)
  const half = text.length / 2
  const members = Buffer.concat([gzipSync(text.subarray(0, half)), gzipSync(text.subarray(half))])
  expect(await gunzip(members, maxBytes)).toEqual(text)
})

it('stops at its bound, long before a bomb is inflated', async () => {
  const bomb = gzipSync(new Uint8Array(200 * MB))
  const before = process.memoryUsage().arrayBuffers
  expect(await gunzip(bomb, MB)).toBeUndefined()
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * MB)
  expect(await gunzip(gzipSync(text), text.length)).toEqual(text)
  expect(await gunzip(gzipSync(text), text.length - 1)).toBeUndefined()
})

it.each([1e6, 3 * MB])('gives nothing for what is no gzip, or ends too early, up to %d', async (maxBytes) => {
  const whole = gzipSync(text)
  expect(await gunzip(new Uint8Array(), maxBytes)).toBeUndefined()
  expect(await gunzip(text, maxBytes)).toBeUndefined()
  expect(await gunzip(whole.subarray(0, whole.length / 2), maxBytes)).toBeUndefined()
})
