import { expect, test } from 'vitest'
import * as trust from './index.ts'
import * as onNode from './node.ts'

test('the public names', () => {
  expect(Object.keys(trust).sort()).toEqual(['createTrust', 'parseInviteCode'])
  expect(Object.keys(onNode).sort()).toEqual(['createPeerGuard', 'generateEcdsaKey', 'parseGuardAuth'])
})
