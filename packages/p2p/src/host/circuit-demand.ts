/**
 * Meets members to which somebody wants a circuit over this node: the next try finds them connected. Only members count,
 * and only so often, as a dial costs this node and the member's address something.
 */
import { type Clock, toError } from '@mesh/core'
import { createTokenBucket } from '@mesh/core/limits'
import { CIRCUIT_DIALS } from './limits.ts'

interface CircuitDemandInit {
  readonly isConnected: (peer: string) => boolean
  readonly isMember: (peer: string) => boolean
  readonly connect: (peer: string) => Promise<void>
  readonly onFailed: (peer: string, error: Error) => void
}

/** Gives the function that tells whether a peer is connected, and begins to connect where it is not. */
export function createCircuitDemand(init: CircuitDemandInit, clock: Clock): (peer: string) => boolean {
  const { isConnected, isMember, connect, onFailed } = init
  const dials = createTokenBucket(CIRCUIT_DIALS, clock)
  const running = new Set<string>()
  return (peer) => {
    if (isConnected(peer)) return true
    if (isMember(peer) && !running.has(peer) && dials.take()) {
      running.add(peer)
      connect(peer)
        .catch((error: unknown) => onFailed(peer, toError(error)))
        .finally(() => running.delete(peer))
    }
    return false
  }
}
