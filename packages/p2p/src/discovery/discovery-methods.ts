/** What each way of finding and reaching peers did, for people who ask why nodes do not see each other. */
import { inWords } from '../libp2p/describe-dial-error.ts'
import type { P2pNode } from '../p2p-node.ts'

export interface Way {
  readonly name: string
  /** A peer was found; each counts once. */
  found(peer: string): void
  /** Undefined: it goes well again. */
  failed(error: unknown): void
}

export interface Ways {
  open(way: string, enabled: boolean): Way
  list(): ReturnType<P2pNode['discovery']>
}

/** The others help to be reached. */
const FINDERS = new Set(['bootstrap', 'members', 'mdns', 'dht'])
/** More peers are counted no further. */
const MAX_COUNTED = 1_024

export function createWays(): Ways {
  const ways = new Map<string, { enabled: boolean; peers: Set<string>; lastError: string | undefined }>()
  return {
    open(way, enabled) {
      const state = { enabled, peers: new Set<string>(), lastError: undefined as string | undefined }
      ways.set(way, state)
      return {
        name: way,
        found(peer) {
          if (state.peers.size < MAX_COUNTED) state.peers.add(peer)
        },
        failed(error) {
          state.lastError = error === undefined ? undefined : inWords(error)
        },
      }
    },
    list: () =>
      [...ways].map(([way, { enabled, peers, lastError }]) => ({
        way,
        enabled,
        found: FINDERS.has(way) ? peers.size : undefined,
        lastError,
      })),
  }
}
