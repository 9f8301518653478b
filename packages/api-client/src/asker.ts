import type { Clock, Random } from '@mesh/core'
import type { PlannedRequest } from './request.ts'

/** The parts that all calls of one client share. */
export interface Asker {
  readonly clock: Clock
  readonly random: Random
  readonly timeoutMs: number
  /** How often a call that may be made again is, at most. */
  readonly retries: number
  /** Rejects with ApiError `client.unreachable`, or with the signal's reason. */
  ask(
    request: { readonly method: string; readonly path: string; readonly body?: PlannedRequest['body'] },
    headers: Readonly<Record<string, string>>,
    signal: AbortSignal,
  ): Promise<Response>
}
