import { expect, it } from 'vitest'
import * as vpn from './index.ts'

it('has these public names', () => {
  expect(Object.keys(vpn).toSorted()).toEqual([
    'IGNORED_REASONS',
    'createVpn',
    'deriveIpv6Range',
    'transferLeadership',
  ])
})
