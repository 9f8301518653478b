/** What is known of each peer that sessions were held with; bounded, the one met longest ago is forgotten first. */
import type { PeerId } from '@mesh/core'
import { MAX_MEMBERS_REMEMBERED } from './limits.ts'

export interface PeerSync {
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
  /** Not to be asked before this time, unix ms. */
  pausedUntil: number
  /** A state of the two that a session could not make equal. */
  settled: { readonly state: string; readonly until: number } | undefined
  /** Sessions that the peer may open, and since when. */
  calls: { left: number; at: number }
}

export interface PeerBook {
  of(peer: PeerId): PeerSync
  /** Takes one of the calls that the peer has in a minute; false when none is left. */
  mayCall(peer: PeerId, nowMs: number, perMinute: number): boolean
  all(): ReadonlyMap<PeerId, Readonly<PeerSync>>
}

export function createPeerBook(): PeerBook {
  const peers = new Map<PeerId, PeerSync>()
  const of = (peer: PeerId): PeerSync => {
    const sync = peers.get(peer) ?? unknownPeer()
    peers.delete(peer)
    peers.set(peer, sync)
    const oldest = peers.keys().next()
    if (peers.size > MAX_MEMBERS_REMEMBERED && oldest.done !== true) peers.delete(oldest.value)
    return sync
  }
  return {
    of,
    mayCall(peer, nowMs, perMinute) {
      const { calls } = of(peer)
      const refill = ((nowMs - calls.at) / 60_000) * perMinute
      calls.left = Math.min(perMinute, calls.left + Math.max(0, refill))
      calls.at = nowMs
      if (calls.left < 1) return false
      calls.left--
      return true
    },
    all: () => peers,
  }
}

function unknownPeer(): PeerSync {
  return {
    lastSyncAt: undefined,
    equal: undefined,
    lastFailure: undefined,
    sessions: 0,
    entriesIn: 0,
    entriesOut: 0,
    bytesIn: 0,
    bytesOut: 0,
    pausedUntil: 0,
    settled: undefined,
    calls: { left: Number.POSITIVE_INFINITY, at: 0 },
  }
}
