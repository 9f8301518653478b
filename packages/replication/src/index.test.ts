import { expect, it } from 'vitest'
import * as replication from './index.ts'

it('has these public names', () => {
  expect(Object.keys(replication).toSorted()).toEqual([
    'HEARTBEATS_PER_LEASE',
    'HEARTBEAT_INTERVAL_MS',
    'REPLICATION_PROTOCOL',
    'Session',
    'createCompression',
    'createReplicator',
    'decodeSyncMessage',
    'encodeSyncMessage',
    'inflatedBytesOf',
  ])
})
