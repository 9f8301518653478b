import { MeshError } from '@mesh/core'

export type ReplicationErrorCode =
  /** The liveness window holds less than four heartbeats. */
  | 'replication.short_lease'
  /** A peer said nothing for too long. */
  | 'replication.timeout'
  /** A peer broke the protocol of a session. */
  | 'replication.fault'

export function replicationError(code: ReplicationErrorCode, message: string, hint?: string) {
  return new MeshError<ReplicationErrorCode>(code, message, hint === undefined ? {} : { hint })
}
