/** Which of several providers a new connection goes to. Pure. */
import type { PeerId, Random } from '@mesh/core'
import { EQUAL_RTT_MS, EQUAL_RTT_PART } from '../limits.ts'
import type { PeerPath } from '../ports.ts'

/** A member, and the name under which it offers a service. */
export interface Provider {
  readonly peer: PeerId
  /** The name that was asked for; of a pool, the name of one of its services. */
  readonly service: string
}

/** How a provider is, as this node sees it. */
export interface ProviderState {
  readonly provider: Provider
  /** True when it failed within the last seconds. */
  readonly hasFailed: boolean
  /** Undefined: it is not connected. */
  readonly path: Pick<PeerPath, 'path' | 'rttMs'> | undefined
  /** The number of connections that this node has to it. */
  readonly connections: number
}

/**
 * Chooses the best provider: one that works before one that failed, a direct path before a relayed one, and the
 * shorter round trip. Of several that are equal it takes the one with the fewest connections.
 */
export function chooseProvider(
  states: readonly ProviderState[],
  random: Pick<Random, 'float'>,
): Provider | undefined {
  const first = Math.min(...states.map(rankOf))
  const near = nearest(states.filter((state) => rankOf(state) === first))
  const fewest = Math.min(...near.map(({ connections }) => connections))
  const equal = near.filter(({ connections }) => connections === fewest)
  return equal[Math.floor(random.float() * equal.length)]?.provider
}

/** The lower one is better. */
export function rankOf({ hasFailed, path }: ProviderState): number {
  const byPath = path === undefined ? 2 : path.path === 'direct' ? 0 : 1
  return (hasFailed ? 3 : 0) + byPath
}

/** A round trip that was not measured yet counts as equal to the shortest one. */
function nearest(states: readonly ProviderState[]): readonly ProviderState[] {
  const least = Math.min(...states.map(({ path }) => path?.rttMs ?? Number.POSITIVE_INFINITY))
  const most = least + Math.max(EQUAL_RTT_MS, least * EQUAL_RTT_PART)
  return states.filter(({ path }) => path?.rttMs === undefined || path.rttMs <= most)
}
