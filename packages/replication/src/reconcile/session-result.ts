/** The counts of a session, and how it ended. */
import type { PeerId } from '@mesh/core'
import type { Snapshot } from '@mesh/ledger'
import { differingRange, helloOf } from '../session/hello.ts'
import type { Session, SessionFault } from '../session/session.ts'
import type { PeerCounts } from './peer-sessions.ts'

/** Why sessions ended early, as counted. */
export type ReconcileFailure =
  | SessionFault
  /** More entries with a broken form or signature than an honest member holds. */
  | 'bad_entries'
  | 'timeout'
  | 'unreachable'
  | 'closed'
  /** An inbound session that was not let in: too many, or after a fault. */
  | 'too_often'
  /** All sessions together left too much waiting for an answer, and this one the most of its address. */
  | 'overload'

/** Counts of what one session moved. */
interface SessionCounts {
  /** Number of entries taken from the peer. */
  accepted: number
  /** Something that others may lack too; heartbeats come anew by themselves. */
  news: boolean
  /** Number of entries sent to the peer. */
  sent: number
  bytesIn: number
  bytesOut: number
}

export interface SessionResult extends Readonly<SessionCounts> {
  readonly peer: PeerId
  readonly role: 'initiator' | 'responder'
  /** `equal` from the start, `reconciled`, or `known_difference`: known to differ in what neither takes. */
  readonly outcome: 'equal' | 'reconciled' | 'known_difference' | 'failed'
  readonly failure: ReconcileFailure | undefined
  readonly messages: number
}

/** The counts of one session. */
export interface Tally extends SessionCounts {
  bad: number
  /** Are the two states known to differ in what neither takes? */
  isKnownDifference: boolean
}

export class ReconcileError extends Error {
  readonly failure: ReconcileFailure
  constructor(failure: ReconcileFailure) {
    super(failure)
    this.failure = failure
  }
}

export function createTally(): Tally {
  return { accepted: 0, news: false, sent: 0, bytesIn: 0, bytesOut: 0, bad: 0, isKnownDifference: false }
}

/** True for a fault of the remote, other than being away. */
export function isFault(failure: ReconcileFailure): boolean {
  return (
    failure === 'malformed' || failure === 'endless' || failure === 'no_progress' || failure === 'bad_entries'
  )
}

export function failureOf(error: unknown): ReconcileFailure {
  if (error instanceof ReconcileError) return error.failure
  const code = error instanceof Error && 'code' in error ? error.code : undefined
  return code === 'replication.timeout' ? 'timeout' : 'closed'
}

export function outcomeOf(session: Session, tally: Tally, now: Snapshot): SessionResult['outcome'] {
  if (session.theirs === undefined) return 'failed'
  if (tally.isKnownDifference) return 'known_difference'
  if (tally.accepted + tally.sent > 0) return 'reconciled'
  return differingRange(helloOf(now), session.theirs) === undefined ? 'equal' : 'reconciled'
}

export function noteSession(sync: PeerCounts, result: SessionResult, nowMs: number): void {
  sync.sessions++
  sync.entriesIn += result.accepted
  sync.entriesOut += result.sent
  sync.bytesIn += result.bytesIn
  sync.bytesOut += result.bytesOut
  sync.lastFailure = result.failure
  if (result.failure !== undefined) return
  sync.lastSyncAt = nowMs
  // After an exchange it is only known with the next comparison.
  sync.equal = result.outcome === 'equal' ? true : result.outcome === 'known_difference' ? false : undefined
}
