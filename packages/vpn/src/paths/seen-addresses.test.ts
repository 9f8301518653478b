import type { IpAddress, PeerId } from '@mesh/core'
import { expect, test } from 'vitest'
import { SeenAddresses } from './seen-addresses.ts'

const PORT = 4_711
const [ONE, OTHER] = ['one' as PeerId, 'other' as PeerId]
const at = (port: number, address = '192.0.2.7') => ({ address: address as IpAddress, port })

function seenBy(words: readonly (readonly [PeerId, number, boolean?])[]): SeenAddresses {
  const seen = new SeenAddresses(() => PORT)
  for (const [witness, port, isOwn = false] of words) seen.learn(witness, at(port), { now: 0, isOwn })
  return seen
}

test('two peers that see different ports show that a NAT chooses one for each', () => {
  expect(seenBy([]).varies).toBe(false)
  const cases = [
    [30_001, 30_002, true],
    [30_001, 30_001, false],
    [PORT, 30_001, true],
  ] as const
  for (const [first, second, varies] of cases) {
    const seen = seenBy([
      [ONE, first],
      [OTHER, second],
    ])
    expect([first, second, seen.varies]).toEqual([first, second, varies])
  }
})

test('where one peer alone sees it, another port than the own one shows that', () => {
  expect(seenBy([[ONE, 30_001]]).varies).toBe(true)
  expect(seenBy([[ONE, PORT]]).varies).toBe(false)
  expect(seenBy([[ONE, 30_001, true]]).varies).toBe(false)
})
