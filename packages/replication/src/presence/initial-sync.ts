/**
 * Coming back: what others did meanwhile is learned before this node says that it is alive or claims anything. Done
 * after one session with a peer, or one block of a legacy member where there are only such, or when nobody is there.
 * Until then the ledger holds what this node writes to owned buckets.
 */
import type { Clock, PeerId } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import {
  ALONE_MEETING_MS,
  ALONE_MS,
  ALONE_UNKNOWN_MS,
  FIRST_SESSION_MS,
  LEGACY_LEDGER_WAIT_MS,
  REPLICATION_PROTOCOL,
} from '../limits.ts'
import type { ReplicationChannels, ReplicationTopic } from '../ports.ts'

/** Why a node may begin. */
export type InitialSyncReason = 'reconciled' | 'legacy_ledger' | 'alone' | 'waited_long_enough'

export interface InitialSyncComponents {
  readonly ledger: Pick<Ledger, 'holdClaims' | 'releaseClaims'>
  readonly topic: ReplicationTopic
  readonly channels: ReplicationChannels
  readonly clock: Clock
  /** Sessions that run now. */
  readonly running: () => number
  readonly expectedMembers?: () => ExpectedMembers
}

/**
 * Says whether a node that has met nobody could still meet a member. `nobody`: none was named or found. `meeting`: the node
 * dials one for the first time, or is connected to one that has not proven itself.
 */
export type ExpectedMembers = 'nobody' | 'somebody' | 'meeting'

const ALONE_AFTER_MS: Readonly<Record<ExpectedMembers, number>> = {
  nobody: ALONE_UNKNOWN_MS,
  somebody: ALONE_MS,
  meeting: ALONE_MEETING_MS,
}

export function createInitialSync(components: InitialSyncComponents) {
  const { ledger, topic, channels, clock, expectedMembers = () => 'somebody' } = components
  let reason: InitialSyncReason | undefined
  let begunAt = clock.monotonic()
  let readySince: number | undefined
  let cancel = () => {}
  let waiting = Promise.withResolvers<void>()
  let stopped = false

  const finish = (why: InitialSyncReason) => {
    if (reason !== undefined || stopped) return
    cancel()
    reason = why
    readySince = clock.monotonic()
    ledger.releaseClaims()
    waiting.resolve()
  }
  const ours = (): readonly PeerId[] => channels.peersWith(REPLICATION_PROTOCOL)
  /** Looks again at each of the times when waiting may end. */
  const look = () => {
    const waitedMs = clock.monotonic() - begunAt
    if (waitedMs >= FIRST_SESSION_MS) return finish('waited_long_enough')
    const isAlone = ours().length === 0 && topic.peers().length === 0
    if (isAlone && waitedMs >= ALONE_AFTER_MS[expectedMembers()]) return finish('alone')
    if (waitedMs >= LEGACY_LEDGER_WAIT_MS && components.running() === 0) return finish('waited_long_enough')
    lookLater()
  }
  /** Somebody awaits `ready()`, or a write that is held until then. */
  const lookLater = () => {
    cancel = clock.after(LOOK_AGAIN_MS, look, { keepAlive: true })
  }
  return {
    /** Begins to wait, at the start and after a long suspension. */
    begin() {
      if (reason !== undefined) waiting = Promise.withResolvers<void>()
      reason = undefined
      readySince = undefined
      ledger.holdClaims()
      begunAt = clock.monotonic()
      cancel()
      lookLater()
    },
    get ready(): boolean {
      return reason !== undefined
    },
    /** Monotonic ms since when this node has been ready; undefined while it waits, also after a suspension. */
    get readySince(): number | undefined {
      return readySince
    },
    get reason(): InitialSyncReason | undefined {
      return reason
    },
    /** Resolves when the node may begin; never when it is stopped before. */
    wait: () => waiting.promise,
    sessionSucceeded: () => finish('reconciled'),
    legacyBlockTaken() {
      if (ours().length === 0) finish('legacy_ledger')
    },
    stop() {
      stopped = true
      cancel()
    },
  }
}

export type InitialSync = ReturnType<typeof createInitialSync>

const LOOK_AGAIN_MS = 1_000
