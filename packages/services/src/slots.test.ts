import { parsePeerId } from '@mesh/core'
import { expect, test } from 'vitest'
import { createSlots } from './slots.ts'

const ids = [
  '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB',
  '12D3KooWKnDdG3iXw9eTFijk3EWSunZcFi54Zka4wmtqtt6rPxc8',
]
/** What one connection takes beside what waits on it, as it was measured, in bytes. */
const CONNECTION_BYTES = 32_000

test('connections of one address take 21 MB of objects at most, and half a thousand are for one peer', () => {
  const slots = createSlots()
  const counts = ids.map((id) => {
    let count = 0
    while (slots.take(parsePeerId(id), '192.0.2.1') !== undefined) count++
    return count
  })
  expect(counts[0]).toBe(512)
  expect(counts[1]).toBeGreaterThan(0)
  expect(slots.taken * CONNECTION_BYTES).toBeLessThan(21e6)
})
