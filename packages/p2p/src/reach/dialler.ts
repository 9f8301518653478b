/**
 * Decides whom to dial, and when. Every way of finding peers hands its finds to `found`; the dialler dials each peer
 * once at a time, the smaller id first, with backoff, and no more than a bounded number of newcomers a minute. A peer
 * that only a relay leads to waits until there is room for one more such connection.
 */
import type { Clock, Logger, Random } from '@mesh/core'
import type { Multiaddr } from '@multiformats/multiaddr'
import {
  BOOTSTRAP_BACKOFF_MAX_MS,
  DIAL_BACKOFF_MAX_MS,
  DIAL_BACKOFF_MIN_MS,
  GREATER_ID_WAITS_MS,
  MAX_DIAL_FAILURES,
  MAX_KNOWN_PEERS,
  MAX_NEW_DIALS_PER_MINUTE,
  MAX_PARALLEL_DIALS,
  MAX_PEER_ADDRESSES,
  MEMBER_BACKOFF_MAX_MS,
} from '../limits.ts'
import type { Find, FindKind } from '../discovery/find.ts'

/** No direct way leads to the peer, and none over a relay may be used now. */
export class NeedsRelayError extends Error {
  override readonly name = 'NeedsRelayError'
  /** Unix ms. */
  readonly notBefore: number
  constructor(notBefore: number) {
    super('only a relay leads there')
    this.notBefore = notBefore
  }
}

export interface Dialler {
  found(find: Find): void
  /** There may be room for one more relayed connection. */
  relayFree(): void
  /** Peers that wait for their next dial or are being dialled. */
  readonly size: number
  stop(): void
}

export interface DiallerInit {
  readonly self: string
  /** Has a direct connection, or a relayed one to a peer without direct addresses. */
  readonly isConnected: (peer: string) => boolean
  /** Resolves when connected. @throws NeedsRelayError */
  readonly dial: (
    peer: string,
    find: Required<Pick<Find, 'addresses' | 'kind'>>,
    signal: AbortSignal,
  ) => Promise<void>
  /** True when the peer may be dialled over a relay now; the dial that follows at once may. */
  readonly takeRelay: (peer: string) => boolean
  readonly onError: (peer: string, error: unknown) => void
}

interface Candidate {
  addresses: readonly Multiaddr[]
  kind: FindKind
  failures: number
  /** Unix ms of the next dial. */
  due: number
  dialling: boolean
  /** Was counted as a newcomer. */
  tried: boolean
  /** The next dial needs a relay, and room for it. */
  needsRelay: boolean
  /** Members of equal rank that wait for room are not taken by all in the same order. */
  readonly lot: number
}

/** Who is dialled first. */
const RANK = { configured: 0, member: 1, found: 2 } as const
const LONGEST_BACKOFF_MS = {
  configured: BOOTSTRAP_BACKOFF_MAX_MS,
  member: MEMBER_BACKOFF_MAX_MS,
  found: DIAL_BACKOFF_MAX_MS,
} as const
/** A member that went is looked for longer than one that was only heard of. */
const MAX_FAILURES = {
  configured: Number.POSITIVE_INFINITY,
  member: 4 * MAX_DIAL_FAILURES,
  found: MAX_DIAL_FAILURES,
} as const

export function createDialler(
  init: DiallerInit,
  components: { readonly clock: Clock; readonly random: Random; readonly logger: Logger },
): Dialler {
  const { clock, random } = components
  const log = components.logger.child('dialler')
  const candidates = new Map<string, Candidate>()
  const stopped = new AbortController()
  const newDials: number[] = []
  let running = 0
  let cancel: (() => void) | undefined
  let wakeAt = Number.POSITIVE_INFINITY

  function found({ peer, addresses, kind = 'found' }: Find): void {
    if (stopped.signal.aborted || peer === init.self || addresses.length === 0) return
    const known = candidates.get(peer)
    if (known !== undefined) {
      const old = new Set(known.addresses.map(String))
      const isNews = addresses.some((address) => !isCircuit(address) && !old.has(address.toString()))
      known.addresses = merge(known.addresses, addresses)
      if (RANK[kind] < RANK[known.kind]) known.kind = kind
      if (isNews) known.needsRelay = false
      // news of a peer is a reason to look soon
      if (!known.dialling && !known.needsRelay)
        known.due = Math.min(known.due, clock.now() + DIAL_BACKOFF_MIN_MS)
    } else {
      if (candidates.size >= MAX_KNOWN_PEERS && !makeRoom()) return
      const wait = kind === 'configured' || init.self < peer ? 0 : GREATER_ID_WAITS_MS
      candidates.set(peer, {
        addresses: merge([], addresses),
        kind,
        failures: 0,
        due: clock.now() + wait,
        dialling: false,
        tried: false,
        needsRelay: false,
        lot: random.float(),
      })
    }
    schedule()
  }

  /** Runs what is due and sleeps until the next. */
  function run(): void {
    wakeAt = Number.POSITIVE_INFINITY
    const now = clock.now()
    const due = [...candidates]
      .filter(([, candidate]) => !candidate.dialling && candidate.due <= now)
      .sort(
        ([, a], [, b]) =>
          RANK[a.kind] - RANK[b.kind] || (a.needsRelay && b.needsRelay ? a.lot - b.lot : a.due - b.due),
      )
    for (const [peer, candidate] of due) {
      if (init.isConnected(peer)) {
        settle(peer, candidate)
      } else if (running >= MAX_PARALLEL_DIALS) {
        break
      } else if (candidate.needsRelay) {
        if (init.takeRelay(peer)) void dial(peer, candidate)
      } else if (candidate.kind !== 'found' || candidate.tried || mayDialNew(now)) {
        void dial(peer, candidate)
      } else {
        candidate.due = (newDials[0] ?? now) + 60_000
      }
    }
    schedule()
  }

  function mayDialNew(now: number): boolean {
    while ((newDials[0] ?? now) <= now - 60_000) newDials.shift()
    if (newDials.length >= MAX_NEW_DIALS_PER_MINUTE) return false
    newDials.push(now)
    return true
  }

  async function dial(peer: string, candidate: Candidate): Promise<void> {
    candidate.dialling = true
    candidate.tried = true
    running++
    try {
      await init.dial(peer, candidate, stopped.signal)
      settle(peer, candidate)
    } catch (error) {
      if (stopped.signal.aborted) return
      candidate.needsRelay = error instanceof NeedsRelayError
      if (error instanceof NeedsRelayError) {
        candidate.due = error.notBefore
        return
      }
      candidate.failures++
      log.debug('dial failed', { peer, failures: candidate.failures, reason: String(error) })
      init.onError(peer, error)
      if (candidate.failures >= MAX_FAILURES[candidate.kind]) candidates.delete(peer)
      candidate.due = clock.now() + backoff(candidate)
    } finally {
      candidate.dialling = false
      running--
      schedule()
    }
  }

  /** Connected: nothing to do until somebody finds it again; what was configured is watched. */
  function settle(peer: string, candidate: Candidate): void {
    candidate.failures = 0
    candidate.due = clock.now() + BOOTSTRAP_BACKOFF_MAX_MS
    if (candidate.kind !== 'configured') candidates.delete(peer)
  }

  function backoff({ failures, kind }: Candidate): number {
    return (
      Math.min(LONGEST_BACKOFF_MS[kind], DIAL_BACKOFF_MIN_MS * 2 ** (failures - 1)) *
      (0.75 + random.float() / 2)
    )
  }

  function makeRoom(): boolean {
    for (const [peer, candidate] of candidates) {
      if (candidate.dialling || candidate.kind !== 'found') continue
      if (candidate.failures === 0 && !candidate.needsRelay) continue
      return candidates.delete(peer)
    }
    return false
  }

  function schedule(): void {
    if (stopped.signal.aborted || (running >= MAX_PARALLEL_DIALS && cancel !== undefined)) return
    let next = Number.POSITIVE_INFINITY
    const now = clock.now()
    for (const { dialling, due, needsRelay } of candidates.values()) {
      // those that wait for room are called
      if (!dialling && (!needsRelay || due > now)) next = Math.min(next, due)
    }
    if (running >= MAX_PARALLEL_DIALS || next >= wakeAt) return
    cancel?.()
    wakeAt = next
    cancel = clock.after(Math.max(0, next - clock.now()), run)
  }

  return {
    found,
    relayFree() {
      if (!stopped.signal.aborted) run()
    },
    get size() {
      return candidates.size
    },
    stop() {
      stopped.abort(new Error('stopped'))
      cancel?.()
      candidates.clear()
    },
  }
}

const isCircuit = (address: Multiaddr) => address.getComponents().some(({ name }) => name === 'p2p-circuit')

/** Newest first, without repeats. */
function merge(old: readonly Multiaddr[], news: readonly Multiaddr[]): readonly Multiaddr[] {
  const all = new Map<string, Multiaddr>()
  for (const address of [...news, ...old]) {
    if (!all.has(address.toString())) all.set(address.toString(), address)
  }
  return [...all.values()].slice(0, MAX_PEER_ADDRESSES)
}
