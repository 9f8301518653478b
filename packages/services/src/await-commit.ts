import { type Clock, untilAborted } from '@mesh/core'
import type { ServicesLedger } from './ports.ts'

const NEVER = new AbortController().signal

/**
 * Resolves with true when a commit makes the test true, with false after `ms`. The test is not asked before.
 * Rejects with the signal's reason.
 */
export async function awaitCommit(
  test: () => boolean,
  { ledger, clock }: { readonly ledger: ServicesLedger; readonly clock: Clock },
  { ms, signal = NEVER }: { readonly ms: number; readonly signal?: AbortSignal },
): Promise<boolean> {
  const { promise, resolve } = Promise.withResolvers<boolean>()
  const cancel = clock.after(ms, () => resolve(false), { keepAlive: true })
  const unsubscribe = ledger.subscribe(({ type }) => {
    if (type === 'committed' && test()) resolve(true)
  })
  try {
    return await untilAborted(promise, signal)
  } finally {
    cancel()
    unsubscribe()
  }
}
