/**
 * Who may read events, or large answers, at the same time. Other machines, this machine's listeners and its unix sockets have
 * places of their own, so that none takes those of the others.
 */
import { type Place, Scope, type ScopeLimits } from '@mesh/core/limits'
import { otherMachineOf } from './other-machine.ts'
import type { ReaderLimits } from '../limits.ts'

export interface ReaderPlaces {
  /**
   * Gives a place to a reader at this address; undefined or empty for one on a unix socket. Undefined when there is none.
   *
   * @param end ends the reader when another one needs the place; without it the reader keeps the place
   */
  reserve(address: string | undefined, end?: () => void): Place | undefined
}

export function createReaderPlaces({ unix, local, remote, perAddress }: ReaderLimits): ReaderPlaces {
  // a reader that was cut off comes back, and one that left no word makes room
  const scopeOf = (limits: ScopeLimits) => new Scope({ ...limits, evict: 'oldest' })
  const [onUnix, onThis, onOther] = [{ all: unix }, { all: local }, { all: remote, perAddress }].map(scopeOf)
  return {
    reserve(address = '', end) {
      const scope = address === '' ? onUnix : otherMachineOf(address) === undefined ? onThis : onOther
      return scope?.reserve({ address, ...(end !== undefined && { end }) })
    },
  }
}
