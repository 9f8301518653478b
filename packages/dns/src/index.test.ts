import { expect, it } from 'vitest'
import * as dns from './index.ts'

it('has these public names', () => {
  expect(Object.keys(dns).toSorted()).toEqual(['OUTCOMES', 'createDns', 'encodeRecordData'])
})
