/** Ownership `off`: the last block as a whole, after each write and every ten seconds, as legacy members do. */
import type { Clock, Random } from '@mesh/core'
import type { Ledger } from '@mesh/ledger'
import { OFF_SYNC_INTERVAL_MS } from '../limits.ts'
import type { Publisher } from '../gossip/publisher.ts'
import { startTimer } from '../timer.ts'

export interface WholeBlocksComponents {
  readonly ledger: Pick<Ledger, 'snapshot' | 'subscribe'>
  readonly publisher: Publisher
  readonly clock: Clock
  readonly random: Random
}

/** The returned function stops. */
export function startWholeBlocks(components: WholeBlocksComponents): () => void {
  const { ledger, publisher } = components
  let sending = false
  let again = false
  const send = async () => {
    again = sending
    if (sending) return
    sending = true
    do {
      again = false
      const snapshot = ledger.snapshot()
      await publisher.sendWhole(snapshot.entries(), snapshot.head)
    } while (again)
    sending = false
  }
  const unsubscribe = ledger.subscribe((event) => {
    const isOwn = event.type === 'committed' && event.changes.some(({ origin }) => origin === 'local')
    if (isOwn) void send()
  })
  const stopTimer = startTimer(
    { everyMs: () => OFF_SYNC_INTERVAL_MS, least: 0.5, run: () => void send() },
    components,
  )
  return () => {
    unsubscribe()
    stopTimer()
  }
}
