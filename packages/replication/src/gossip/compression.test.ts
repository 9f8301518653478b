import { createManualClock } from '@mesh/testkit'
import { gzipSync } from 'node:zlib'
import { expect, it } from 'vitest'
import { createCompression } from './compression.ts'

const compression = createCompression(createManualClock())
const text = new TextEncoder().encode('{"Index":0}'.repeat(5000))

it('reads what it wrote, and what another encoder wrote, in one member or several', async () => {
  expect(await compression.gunzip(await compression.gzip(text), 1e6)).toEqual(text)
  expect(await compression.gunzip(gzipSync(text), 1e6)).toEqual(text)
  const half = text.length / 2
  const members = Buffer.concat([gzipSync(text.subarray(0, half)), gzipSync(text.subarray(half))])
  expect(await compression.gunzip(members, 1e6)).toEqual(text)
})

it('stops at its bound, long before a bomb is inflated', async () => {
  const bomb = gzipSync(new Uint8Array(200 * 1024 * 1024))
  const before = process.memoryUsage().arrayBuffers
  expect(await compression.gunzip(bomb, 1024 * 1024)).toBeUndefined()
  expect(process.memoryUsage().arrayBuffers - before).toBeLessThan(64 * 1024 * 1024)
  expect(await compression.gunzip(gzipSync(text), text.length)).toEqual(text)
  expect(await compression.gunzip(gzipSync(text), text.length - 1)).toBeUndefined()
})

it('gives nothing for what is no gzip, or ends too early', async () => {
  const whole = gzipSync(text)
  expect(await compression.gunzip(new Uint8Array(), 1e6)).toBeUndefined()
  expect(await compression.gunzip(text, 1e6)).toBeUndefined()
  expect(await compression.gunzip(whole.subarray(0, whole.length / 2), 1e6)).toBeUndefined()
})
