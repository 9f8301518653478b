import { type Clock, SharedBytes } from '@mesh/core'
import { MAX_UNWRITTEN_BYTES } from '../limits.ts'

/** Creates the bound on what waits for the targets of services and of egress, of all members together. */
export function createUnwritten(clock: Pick<Clock, 'after'>): SharedBytes {
  return new SharedBytes(MAX_UNWRITTEN_BYTES, clock)
}
