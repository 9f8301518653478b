/**
 * Keeps what is known of each peer that sessions were held with; bounded, the one met longest ago is
 * forgotten first.
 */
import { BoundedMap, type PeerId } from '@mesh/core'
import { MAX_MEMBERS_REMEMBERED } from '../limits.ts'

/** The counts of the sessions with one peer. */
export interface PeerCounts {
  /** Unix ms of the last session that went well. */
  lastSyncAt: number | undefined
  /** Do both hold the same? Undefined after an exchange, until the next comparison. */
  equal: boolean | undefined
  lastFailure: string | undefined
  sessions: number
  entriesIn: number
  entriesOut: number
  bytesIn: number
  bytesOut: number
}

interface PeerSync {
  readonly counts: PeerCounts
  /** The time before which the peer is not asked, in monotonic ms. */
  pausedUntil: number
  /** A state of the two that a session could not make equal; until then, monotonic ms. */
  knownDifference: { readonly state: string; readonly until: number } | undefined
  /** Its clock less this node's monotonic time, in ms, as it told it last. */
  clockOffsetMs: number | undefined
}

export interface PeerSessions {
  of(peer: PeerId): PeerSync
  /** Lets the next session with each peer compare again what an earlier one left unequal. */
  forgetDifferences(): void
  all(): ReadonlyMap<PeerId, Readonly<PeerSync>>
}

export function createPeerSessions(): PeerSessions {
  const peers = new BoundedMap<PeerId, PeerSync>(MAX_MEMBERS_REMEMBERED)
  const of = (peer: PeerId): PeerSync => {
    const sync = peers.get(peer) ?? unknownPeer()
    peers.set(peer, sync)
    return sync
  }
  const forgetDifferences = () => {
    for (const [, sync] of peers) sync.knownDifference = undefined
  }
  return { of, forgetDifferences, all: () => peers }
}

function unknownPeer(): PeerSync {
  const lately = { lastSyncAt: undefined, equal: undefined, lastFailure: undefined }
  return {
    counts: { ...lately, sessions: 0, entriesIn: 0, entriesOut: 0, bytesIn: 0, bytesOut: 0 },
    pausedUntil: Number.NEGATIVE_INFINITY,
    knownDifference: undefined,
    clockOffsetMs: undefined,
  }
}
