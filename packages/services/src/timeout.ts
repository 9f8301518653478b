import type { Clock } from '@mesh/core'
import { servicesError } from './errors.ts'

/** Runs `work` with a signal that aborts with `services.timeout` after `ms`, or with the outer signal. */
export async function within<T>(
  { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  const limit = new AbortController()
  const cancel = clock.after(ms, () =>
    limit.abort(servicesError('services.timeout', `it took longer than ${ms / 1_000} s`)),
  )
  try {
    return await work(AbortSignal.any([signal, limit.signal]))
  } finally {
    cancel()
  }
}
