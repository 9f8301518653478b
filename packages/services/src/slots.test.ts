import { parsePeerId, type PeerId } from '@mesh/core'
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
    const holder = { peer: parsePeerId(id), address: '192.0.2.1', end: () => {} }
    while (slots.take(holder) !== undefined) count++
    return count
  })
  expect(counts[0]).toBe(512)
  expect(counts[1]).toBeGreaterThan(0)
  expect(slots.taken * CONNECTION_BYTES).toBeLessThan(21e6)
})

test('where all are taken the address with the most makes way for one that has fewer, and not for its like', () => {
  const slots = createSlots({ perPeer: 4, perAddress: 5, inAll: 10 })
  const ended: string[] = []
  const take = (peer: string, address: string) =>
    slots.take({ peer: peer as PeerId, address, end: () => ended.push(peer) })
  for (let at = 0; at < 4; at++) take('many', '192.0.2.1')
  take('one', '192.0.2.1')
  const held = Array.from({ length: 5 }, (_, at) => take(`key ${at}`, '192.0.2.2'))
  expect(slots.hasRoom({ peer: 'late' as PeerId, address: '198.51.100.1' })).toBe(false)
  expect([take('late', '198.51.100.1'), take('late', '198.51.100.1')]).not.toContain(undefined)
  expect(ended).toEqual(['many', 'key 0'])
  // what was given away is not given back once more
  held[0]?.()
  expect(slots.taken).toBe(10)
  while (take('late', '198.51.100.1') !== undefined);
  expect(ended).toHaveLength(3)
  expect(take('many', '192.0.2.1')).toBeUndefined()
})
