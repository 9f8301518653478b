import { expect, test } from 'vitest'
import * as portMapping from './index.ts'

test('has these public names', () => {
  expect(Object.keys(portMapping).sort()).toEqual(['createUdpPortMappings', 'isOnLink', 'ownAddressTowards'])
})
