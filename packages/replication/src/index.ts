/**
 * Keeps ledgers equal: publishes what changed, catches up on what was missed, says that this node is alive, reaps,
 * and serves members of older networks. Over a port for the network; browser-safe.
 *
 * @example
 * ```ts
 * import { type Clock, type Random, silentLogger } from '@mesh/core'
 * import type { Ledger } from '@mesh/ledger'
 * import { createReplicator, type ReplicationChannels, type ReplicationRoom } from '@mesh/replication'
 *
 * export async function join(
 *   ledger: Ledger,
 *   network: { room: ReplicationRoom; channels: ReplicationChannels },
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
export type { ArrivalReason } from './arrival.ts'
export { type Compression, createCompression } from './compression.ts'
export type { ReplicationErrorCode } from './errors.ts'
export { estimateIdleTraffic, type IdleTraffic, type IdleTrafficInit } from './idle-traffic.ts'
export { HEARTBEAT_INTERVAL_MS, HEARTBEATS_PER_LEASE, REPLICATION_PROTOCOL } from './limits.ts'
export type { ReplicationChannel, ReplicationChannels, ReplicationRoom } from './ports.ts'
export type { ReceiveRefusal } from './receiver.ts'
export type { ReconcileFailure, SessionResult } from './reconciler.ts'
export {
  createReplicator,
  type Replicator,
  type ReplicatorComponents,
  type ReplicatorInit,
} from './replicator.ts'
export { createSession, type Received, type Session, type SessionFault, type SessionInit } from './session.ts'
export type { PeerReplicationStatus, ReplicationStatus } from './status.ts'
export type { Turn } from './turn.ts'
export { decodeTurn, encodeTurn } from './turn-codec.ts'
