/** Reports to people what each method of finding and reaching peers did. */
import { describeDialError } from '../libp2p/describe-dial-error.ts'
import type { P2pNode } from '../p2p-node.ts'

/** Where one method reports what it found and what went wrong. */
export interface DiscoveryMethod {
  readonly name: string
  /** A peer was found; each counts once. */
  found(peer: string): void
  /** Something went wrong; undefined says that it goes well again. */
  failed(error: unknown): void
}

export interface DiscoveryMethods {
  /** Adds a method by its name. */
  open(method: string, enabled: boolean): DiscoveryMethod
  list(): ReturnType<P2pNode['discovery']>
}

/** The methods that find peers; the others help to be reached. */
const FINDERS = new Set(['bootstrap', 'members', 'mdns', 'dht'])
/** The most peers that are counted for one method. */
const MAX_COUNTED = 1_024

/** Creates the record of one node's methods. */
export function createDiscoveryMethods(): DiscoveryMethods {
  const methods = new Map<string, { enabled: boolean; peers: Set<string>; lastError: string | undefined }>()
  return {
    open(method, enabled) {
      const state = { enabled, peers: new Set<string>(), lastError: undefined as string | undefined }
      methods.set(method, state)
      return {
        name: method,
        found(peer) {
          if (state.peers.size < MAX_COUNTED) state.peers.add(peer)
        },
        failed(error) {
          state.lastError = error === undefined ? undefined : describeDialError(error)
        },
      }
    },
    list: () =>
      [...methods].map(([method, { enabled, peers, lastError }]) => ({
        method,
        enabled,
        found: FINDERS.has(method) ? peers.size : undefined,
        lastError,
      })),
  }
}
