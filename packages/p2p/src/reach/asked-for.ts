import { ASKED_FOR_MS } from './limits.ts'
import type { PeerState } from './peer-state.ts'

/** Somebody wants a connection to the peer, or did lately; what a person configured always counts. */
export function isAskedFor({ askedAt, configured }: PeerState, now: number): boolean {
  return configured || (askedAt !== undefined && askedAt > now - ASKED_FOR_MS)
}
