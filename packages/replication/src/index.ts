/**
 * Keeps ledgers equal: publishes what changed, catches up on what was missed, says that this node is alive, reaps,
 * and serves legacy members. Over a port for the network; browser-safe.
 *
 * @example
 * ```ts
 * import { type Clock, type Random, silentLogger } from '@mesh/core'
 * import type { Ledger } from '@mesh/ledger'
 * import { createReplicator, type ReplicationChannels, type ReplicationTopic } from '@mesh/replication'
 *
 * export async function join(
 *   ledger: Ledger,
 *   network: { topic: ReplicationTopic; channels: ReplicationChannels },
 *   surroundings: { clock: Clock; random: Random },
 * ) {
 *   const replicator = createReplicator({}, { ledger, ...network, ...surroundings, logger: silentLogger })
 *   await replicator.start()
 *   await replicator.ready()
 *   replicator.keepAnnounced('users', ledger.self, () => JSON.stringify({ PeerID: ledger.self }))
 *   return replicator
 * }
 * ```
 */
export type { InitialSyncReason, ExpectedMembers } from './presence/initial-sync.ts'
export { type Compression, createCompression, inflatedBytesOf } from './gossip/compression.ts'
export type { ReplicationErrorCode } from './errors.ts'
export {
  HEARTBEAT_INTERVAL_MS,
  HEARTBEATS_PER_LEASE,
  REPLICATION_PROTOCOL,
} from './limits.ts'
export type { ReplicationChannel, ReplicationChannels, ReplicationTopic } from './ports.ts'
export type { ReceiveRefusal } from './gossip/block-receiver.ts'
export type { ReconcileFailure, SessionResult } from './reconcile/session-result.ts'
export {
  createReplicator,
  type Replicator,
  type ReplicatorComponents,
  type ReplicatorInit,
} from './replicator.ts'
export { Session, type Received, type SessionFault, type SessionInit } from './session/session.ts'
export type { PeerReplicationStatus, ReplicationStatus } from './status.ts'
export type { SyncMessage } from './session/sync-message.ts'
export { decodeSyncMessage, encodeSyncMessage } from './session/sync-message-codec.ts'
