import { expect, test } from 'vitest'
import * as network from './index.ts'
import * as node from './node.ts'

test('has these public names', () => {
  expect(Object.keys(network).sort()).toEqual([
    'SEAL_NONCE_BYTES',
    'SEAL_TAG_BYTES',
    'createNetworkSecrets',
    'createSealer',
    'encodeToken',
    'formatNetworkConfig',
    'frameTexts',
    'generateNetworkConfig',
    'networkId',
    'parseNetworkConfig',
    'parseToken',
    'portableSealCipher',
    'sealedLength',
  ])
  expect(Object.keys(node)).toEqual(['nativeSealCipher'])
})
