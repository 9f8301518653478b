import { expect, it } from 'vitest'
import * as replication from './index.ts'

it('has these public names', () => {
  expect(Object.keys(replication).toSorted()).toEqual([
    'HEARTBEATS_PER_LEASE',
    'HEARTBEAT_INTERVAL_MS',
    'INFLATED_PIECE_BYTES',
    'MAX_WHOLE_INFLATED_BYTES',
    'REPLICATION_PROTOCOL',
    'boundPieces',
    'createCompression',
    'createReplicator',
    'Session',
    'decodeSyncMessage',
    'encodeSyncMessage',
    'estimateIdleTraffic',
    'inflatedBytesOf',
  ])
})
