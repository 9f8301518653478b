import { type Clock, untilAborted, withDeadline } from '@mesh/core'
import { replicationError } from '../errors.ts'

/** The promise's outcome, or a rejection with `replication.timeout` when it takes longer. */
export function within<T>(clock: Clock, ms: number, promise: Promise<T>): Promise<T> {
  const reason = () => replicationError('replication.timeout', `nothing was heard for ${ms} ms`)
  return withDeadline({ clock, ms, reason }, (signal) => untilAborted(promise, signal))
}
