import { expect, test } from 'vitest'
import * as trust from './index.ts'

test('the public names', () => {
  expect(Object.keys(trust).sort()).toEqual([
    'createTrust',
    'generateEcdsaKey',
    'parseGuardAuth',
    'parseInviteCode',
  ])
})
