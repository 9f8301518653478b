import { type Clock, withDeadline } from '@mesh/core'
import { servicesError } from './errors.ts'

/** Runs `work` with a signal that aborts with `services.timeout` after `ms`, or with the outer signal. */
export function within<T>(
  { clock, ms, signal }: { readonly clock: Clock; readonly ms: number; readonly signal: AbortSignal },
  work: (signal: AbortSignal) => Promise<T>,
): Promise<T> {
  return withDeadline({ clock, ms, signal, reason: () => tookTooLong(ms) }, work)
}

export function tookTooLong(ms: number) {
  return servicesError('services.timeout', `it took longer than ${ms / 1_000} s`)
}
