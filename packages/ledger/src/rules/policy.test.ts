import { expect, test } from 'vitest'
import { peerIdInValue } from './policy.ts'

test.each([
  ['{"PeerID":"A"}', 'A'],
  ['{"peerid":"A"}', 'A'],
  ['{"PEERID":"A","x":{"PeerID":"B"}}', 'A'],
  ['{"PeerID":"A","peerid":"B","PeerID":"C"}', 'C'],
  ['{"PeerID":"A","PeerID":null}', 'A'],
  ['{"PeerID":7}', ''],
  ['{"PeerID":"A","peerID":7}', ''],
  ['{"PeerID":"A"', ''],
  ['{"PeerID":"A"} x', ''],
  ['["PeerID"]', ''],
  ['"PeerID"', ''],
  ['null', ''],
  ['', ''],
])('the owner in %s is "%s", as Go finds it', (value, owner) => {
  expect(peerIdInValue(value)).toBe(owner)
})
