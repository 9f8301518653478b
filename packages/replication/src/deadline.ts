import type { Clock } from '@mesh/core'
import { replicationError } from './errors.ts'

/** The promise's outcome, or a rejection with `replication.timeout` when it takes longer. */
export function within<T>(clock: Clock, timeoutMs: number, promise: Promise<T>): Promise<T> {
  const { promise: late, reject } = Promise.withResolvers<never>()
  const onTime = () =>
    reject(replicationError('replication.timeout', `nothing was heard for ${timeoutMs} ms`))
  const cancel = clock.after(timeoutMs, onTime, { keepAlive: true })
  return Promise.race([promise, late]).finally(cancel)
}
