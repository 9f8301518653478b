/**
 * Which calls may be made again, and when. A call is made again only where it cannot do harm: it never reached a node, the
 * node says that it did nothing, or it only reads. A write whose answer was lost may have been done, and doing it again
 * could undo what somebody else wrote meanwhile.
 */
import { type Clock, delay, type Random } from '@mesh/core'
import { createBackoff } from '@mesh/core/limits'
import { ApiError } from './api-error.ts'
import { RETRY_MAX_MS, RETRY_MIN_MS } from './limits.ts'

export interface RetryInit {
  /** How often a call is made again, at most. */
  readonly retries: number
  readonly method: string
  /** The monotonic time, in ms, after which nobody waits for the call any more. */
  readonly endsAt: number
  readonly signal: AbortSignal
}

/** Makes a call until it succeeds, fails for good, or was made often enough. */
export async function withRetries<Answer>(
  init: RetryInit,
  components: { readonly clock: Clock; readonly random: Random },
  attempt: () => Promise<Answer>,
): Promise<Answer> {
  const backoff = createBackoff({ leastMs: RETRY_MIN_MS, mostMs: RETRY_MAX_MS }, components)
  for (let left = init.retries; ; left--) {
    try {
      return await attempt()
    } catch (error) {
      if (left <= 0 || init.signal.aborted || !(error instanceof ApiError)) throw error
      if (!mayRepeat(error, init.method)) throw error
      backoff.failed()
      const waitMs = Math.max(backoff.remainingMs(), error.retryAfterMs ?? 0)
      if (components.clock.monotonic() + waitMs >= init.endsAt) throw error
      await delay(components.clock, waitMs, init.signal)
    }
  }
}

/** The statuses with which a proxy answers when the node behind it is away. */
const AWAY = [502, 503, 504]

function mayRepeat(error: ApiError, method: string): boolean {
  const { code, status, retryAfterMs } = error
  if (code === 'client.unreachable') return isReading(method) || wasNeverSent(error)
  // with these the server says that it did nothing and when to come back
  if ((status === 429 || status === 503) && retryAfterMs !== undefined) return true
  return isReading(method) && code === 'client.bad_answer' && AWAY.includes(status)
}

function isReading(method: string): boolean {
  return method === 'GET' || method === 'HEAD'
}

/** Nobody took the connection, as Node tells it; browsers do not tell. */
function wasNeverSent(error: Error): boolean {
  for (let cause: unknown = error; cause instanceof Error; cause = cause.cause) {
    if ('code' in cause && (cause.code === 'ECONNREFUSED' || cause.code === 'ENOENT')) return true
  }
  return false
}
