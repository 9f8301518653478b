import { expect, test } from 'vitest'
import * as ledger from './index.ts'
import * as node from './node.ts'

test('has these public names', () => {
  expect(Object.keys(ledger).toSorted()).toEqual([
    'announceProvided',
    'canonicalBytes',
    'comparePositions',
    'createLeases',
    'createLedger',
    'createMemoryStore',
    'createOwners',
    'createSigner',
    'decodeEntries',
    'defaultLedgerLimits',
    'defaultPolicies',
    'encodeBlock',
    'encodeEntry',
    'entryHash',
    'furtherProviders',
    'genesisHead',
    'hashByDigest',
    'hashByPrint',
    'heartbeatTime',
    'isVersionAhead',
    'leaderOf',
    'ownedByKey',
    'ownedBySigner',
    'ownedByValue',
    'verifySignature',
  ])
})

test('has these names for Node', () => {
  expect(Object.keys(node).toSorted()).toEqual([
    'StoreCopies',
    'createNodeSigner',
    'createNodeVerifier',
    'openDiskStore',
    'setAsideDamaged',
  ])
})
