/**
 * Watches a lease, which another claim of the same moment can win, or a member that took the address while this node was away
 * (docs/PROTOCOLS.md, 'Leases'). A young lease also yields to an older claimant, and to a machine that a person gave the
 * address: nobody depends on it yet.
 */
import { BUCKETS, type IpAddress, shortPeerId } from '@mesh/core'
import type { KeyedEntry, LedgerEvent } from '@mesh/ledger'
import { asksFor, holderOf } from './machines-bucket.ts'
import type { LeaseAge } from './lease-age.ts'
import { CONFLICT_PATIENCE_MS, CONFLICT_SEEN_MS } from './limits.ts'
import type { VpnComponents } from '../vpn.ts'

interface LeaseWatchComponents extends Pick<VpnComponents, 'ledger' | 'clock' | 'log'> {
  readonly age: LeaseAge
}

/**
 * Called once, with the new holder; `to` is undefined when nobody else is known. From this very call on the address
 * must not be announced any more.
 */
type OnLeaseLost = (loss: { readonly address: IpAddress; readonly to: string | undefined }) => void

/** Calls `onLost` when the lease is lost. The returned function stops watching. */
export function watchLease(
  address: IpAddress,
  { ledger, age, clock, log }: LeaseWatchComponents,
  onLost: OnLeaseLost,
): () => void {
  let cancel = () => {}
  const stop = () => {
    unsubscribe()
    cancel()
  }
  const lose = (to: string | undefined) => {
    stop()
    age.lost()
    log.warn('leased address lost', { address, to: to && shortPeerId(to) })
    onLost({ address, to })
  }
  const letGo = (to: string) => {
    lose(to)
    try {
      ledger.delete(BUCKETS.machines, address)
    } catch (error) {
      log.debug('lost address not ended', { address, error })
    }
  }
  /** Both see the conflict; the greater id gives up, and if it does not, as legacy nodes never do, the smaller. */
  const giveUp = (to: string) => {
    if (!age.isYoung()) return
    cancel()
    cancel = clock.after(ledger.self > to ? CONFLICT_SEEN_MS : CONFLICT_PATIENCE_MS, () => letGo(to))
  }
  /** A machine that was given the address finds it taken, and asks for it. */
  const hearRequest = (keyed: KeyedEntry) => {
    const requester = age.isYoung() ? asksFor(keyed, address) : undefined
    if (requester === undefined || requester === ledger.self) return false
    letGo(requester)
    return true
  }
  const hear = (event: LedgerEvent) => {
    if (event.type === 'committed') {
      for (const change of event.changes) {
        const { bucket, key, entry } = change
        if (bucket !== BUCKETS.machines || entry.deleted) continue
        if (key !== address) {
          if (hearRequest(change)) return
          continue
        }
        const holder = holderOf(key, entry)
        if (holder !== ledger.self) return lose(holder)
      }
    } else if (event.type === 'yielded' || event.type === 'conflict') {
      if (event.bucket !== BUCKETS.machines || event.key !== address) return
      if (event.type === 'yielded') return lose(event.to)
      const [other] = event.owners.filter((owner) => owner !== ledger.self).toSorted()
      if (event.resolved) cancel()
      else if (other !== undefined) giveUp(other)
    }
  }
  /** It may have been lost between the claim and this call. */
  const lookOnce = () => {
    const entry = ledger.snapshot().getLive(BUCKETS.machines, address)
    const holder = entry && holderOf(address, entry)
    if (holder !== ledger.self) return lose(holder)
    for (const keyed of ledger.snapshot().entries(BUCKETS.machines)) if (hearRequest(keyed)) return
  }
  const unsubscribe = ledger.subscribe(hear)
  cancel = clock.after(0, lookOnce)
  return stop
}
