import { expect, test } from 'vitest'
import * as exitNode from './index.ts'

test('has these public names', () => {
  expect(Object.keys(exitNode).sort()).toEqual([
    'RESOLVED_CONF',
    'asksForAll',
    'createLocalFilter',
    'examineExit',
    'forwardedFamilies',
    'forwards',
    'machineResolvers',
    'openExitHost',
    'restoreKernel',
  ])
})
