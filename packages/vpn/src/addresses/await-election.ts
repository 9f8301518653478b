/** Waits until this node may take an address: the election over the ledger, with the writes and waits that it takes. */
import { type Cidr, MeshError, untilAborted } from '@mesh/core'
import { concernsLeases, readLeader, readRequests, readWaiting, writeLeader } from './dhcp-bucket.ts'
import { type ElectionStep, LeaseElection } from './lease-election.ts'
import { ELECTION_DEADLINE_MS, GATHER_MS, REWRITE_MS } from './limits.ts'
import type { VpnComponents } from '../vpn.ts'

interface AwaitElectionInit {
  /** Where this node leases; those who ask for an address of it share its turn. */
  readonly range: Cidr
  readonly signal: AbortSignal
  /** Called before each look at the ledger; it throws when there is no use in waiting. */
  readonly check: () => void
}

interface AwaitElectionComponents extends Pick<VpnComponents, 'ledger' | 'clock' | 'random' | 'log'> {
  /** True for a peer that is known to be of our kind, as one that speaks `/mesh/vpn/1` is. */
  readonly isOurs: (peer: string) => boolean
}

interface ElectionOutcome {
  /** Number of the lowest free addresses that others may have taken unheard, or take now, each its own. */
  readonly unheard: number
  /** Number of nodes that may try for an address at the same moment: the election did not end in time. */
  readonly racers: number
}

/** @throws MeshError `ledger.stopped`; what `check` throws; the signal's reason */
export async function awaitElection(
  { range, signal, check }: AwaitElectionInit,
  components: AwaitElectionComponents,
): Promise<ElectionOutcome> {
  const { ledger, clock, random, isOurs } = components
  const election = new LeaseElection(ledger.self)
  const deadline = clock.monotonic() + ELECTION_DEADLINE_MS * (1 + random.float() / 2)
  for (;;) {
    check()
    const now = clock.monotonic()
    const wallNow = clock.now()
    const snapshot = ledger.snapshot()
    const isLive = (peer: string) => snapshot.isOwnerLive(peer, wallNow)
    const waiting = readWaiting(snapshot, wallNow)
    const asking = readRequests(snapshot, range, wallNow)
    const step = election.next({ waiting, asking, leader: readLeader(snapshot)?.leader, isLive, isOurs }, now)
    const unheard = election.unheard + asking.filter((peer) => peer < ledger.self).length
    if (step.type === 'take') return { unheard, racers: 0 }
    if (now >= deadline) return { unheard, racers: waiting.length }
    if (step.type === 'lead') lead(components)
    await leaseChange(Math.min(dueAt(step, now), deadline) - now, { ledger, clock, signal })
  }
}

function dueAt(step: Exclude<ElectionStep, { type: 'take' }>, now: number): number {
  return step.type === 'lead' ? now + REWRITE_MS : step.untilMs
}

function lead({ ledger, log }: Pick<AwaitElectionComponents, 'ledger' | 'log'>): void {
  try {
    writeLeader(ledger, ledger.self)
  } catch (error) {
    if (error instanceof MeshError && error.code === 'ledger.stopped') throw error
    log.debug('leader not written', { error })
  }
}

/** Resolves soon after the ledger says something else about those who lease, at the latest after `delayMs`. */
async function leaseChange(
  delayMs: number,
  { ledger, clock, signal }: Pick<AwaitElectionComponents, 'ledger' | 'clock'> & { signal: AbortSignal },
): Promise<void> {
  const { promise, resolve } = Promise.withResolvers<void>()
  let cancelSoon: (() => void) | undefined
  const unsubscribe = ledger.subscribe((event) => {
    if (event.type === 'committed' && event.changes.some(concernsLeases)) {
      cancelSoon ??= clock.after(GATHER_MS, resolve)
    }
  })
  const cancel = clock.after(delayMs, resolve, { keepAlive: true })
  try {
    await untilAborted(promise, signal)
  } finally {
    unsubscribe()
    cancel()
    cancelSoon?.()
  }
}
