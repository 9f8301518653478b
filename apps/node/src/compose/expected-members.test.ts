import { expect, test } from 'vitest'
import { expectMembers } from './expected-members.ts'

const peer = { id: 'a', connected: false, member: false, lastError: undefined, lastSeen: undefined }

test.each([
  ['nobody was named, found or remembered', [], [], true, 'nobody'],
  ['the ledger tells of others', [], [], false, 'somebody'],
  ['somebody was found', [], [peer], true, 'somebody'],
  ['a named peer is not in sight yet', ['a'], [], true, 'meeting'],
  ['a named peer is dialled for the first time', ['a'], [peer], true, 'meeting'],
  ['a named peer proves its membership', ['a'], [{ ...peer, connected: true, lastSeen: 1 }], true, 'meeting'],
  ['a named peer is a member', ['a'], [{ ...peer, connected: true, member: true }], true, 'somebody'],
  ['the dial of a named peer failed', ['a'], [{ ...peer, lastError: 'refused' }], true, 'somebody'],
  ['a stranger connects', [], [{ ...peer, connected: true }], true, 'somebody'],
] as const)('%s', (_what, named, peers, isLonely, expected) => {
  expect(expectMembers({ named, peers, isNear: false, isLonely })).toBe(expected)
})

test.each([
  ['is dialled for the first time', peer, 'meeting'],
  ['proves its membership', { ...peer, connected: true, lastSeen: 1 }, 'meeting'],
  ['is a member', { ...peer, connected: true, member: true }, 'somebody'],
  ['did not answer', { ...peer, lastError: 'refused' }, 'somebody'],
] as const)('a peer on this link %s', (_what, near, expected) => {
  expect(expectMembers({ named: [], peers: [near], isNear: true, isLonely: true })).toBe(expected)
})
