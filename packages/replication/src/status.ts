/** Replication's account of itself, for the API, health and metrics. */
import type { PeerId } from '@mesh/core'
import type { InitialSyncReason } from './presence/initial-sync.ts'
import type { ReceiveRefusal } from './gossip/block-receiver.ts'
import type { PeerCounts } from './reconcile/peer-sessions.ts'
import type { ReconcileFailure } from './reconcile/session-result.ts'

/** Sessions with one peer. */
export interface PeerReplicationStatus extends Readonly<PeerCounts> {
  readonly peer: PeerId
}

export interface ReplicationStatus {
  /** May this node say that it is alive and claim keys? And why. */
  readonly ready: boolean
  readonly readyReason: InitialSyncReason | undefined
  /** Unix ms of this node's last heartbeat. */
  readonly lastHeartbeatAt: number | undefined
  /** The time since which another process is known to use the identity of this node, in unix ms; undefined: none is. */
  readonly identitySharedSince: number | undefined
  /** Living members that say that two processes use their identity. */
  readonly sharedIdentities: readonly PeerId[]
  /** Who ends expired entries, as this node sees it. */
  readonly leader: string | undefined
  /** Legacy members heard within ten minutes. */
  readonly legacyMembers: readonly PeerId[]
  /** Blocks over the topic. */
  readonly published: {
    readonly blocks: number
    readonly entries: number
    readonly bytes: number
    /** Number of blocks that could not be published. */
    readonly failed: number
    readonly wholeLedgers: number
  }
  readonly received: {
    readonly messages: number
    /** Number of messages whose content had come before. */
    readonly repeated: number
    readonly bytes: number
    /** Number of entries taken. */
    readonly accepted: number
    /** Number of entries refused by the ledger. */
    readonly rejected: number
    /** Messages that never reached the ledger. */
    readonly refused: Readonly<Partial<Record<ReceiveRefusal, number>>>
  }
  readonly sessions: {
    /** Number of sessions under way now. */
    readonly running: number
    readonly failures: Readonly<Partial<Record<ReconcileFailure, number>>>
    /** Entries refused here in sessions, and of ours by others, by code. */
    readonly refusedHere: Readonly<Record<string, number>>
    readonly refusedThere: Readonly<Record<string, number>>
  }
  readonly peers: readonly PeerReplicationStatus[]
}
