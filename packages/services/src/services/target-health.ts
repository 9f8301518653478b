/**
 * Does the target of a service answer? A connection is made and closed now and then; one of a client that came through
 * counts, too. UDP has no connections: such a target counts as up until it answers that nobody listens. This process
 * itself is always up.
 */
import { type Clock, type Random, toError } from '@mesh/core'
import { createBackoff } from '@mesh/core/limits'
import {
  CHECK_INTERVAL_MS,
  CHECK_TIMEOUT_MS,
  CHECKS_UNTIL_DOWN,
  DOWN_RETRY_LEAST_MS,
  DOWN_RETRY_MOST_MS,
  RECHECK_MS,
} from '../limits.ts'
import { dial } from '../streams/dial.ts'
import { socketAddressOf } from '../streams/endpoint.ts'
import type { ServiceTarget } from './target.ts'

export interface TargetHealth {
  /** Undefined until the first check is done. */
  readonly isUp: boolean | undefined
  /** When `isUp` became what it is, unix ms; undefined until the first check is done. */
  readonly since: number | undefined
  readonly lastError: string | undefined
  /** A client's connection reached the target. */
  worked(): void
  /** A client's connection did not: the target is checked at once. */
  failed(reason: string): void
  stop(): void
}

export interface TargetHealthComponents {
  readonly clock: Clock
  readonly random: Random
  /** `isUp` is another now. */
  readonly onChange: () => void
}

export function watchTarget(target: ServiceTarget, components: TargetHealthComponents): TargetHealth {
  const { clock, onChange } = components
  const ended = new AbortController()
  const backoff = createBackoff({ leastMs: DOWN_RETRY_LEAST_MS, mostMs: DOWN_RETRY_MOST_MS }, components)
  let isUp: boolean | undefined
  let since: number | undefined
  let lastError: string | undefined
  let failures = 0
  let cancel = () => {}
  let isChecking = false

  function tell(next: boolean): void {
    if (next === isUp) return
    isUp = next
    since = clock.now()
    onChange()
  }

  function up(): void {
    failures = 0
    backoff.succeeded()
    lastError = undefined
    checkIn(CHECK_INTERVAL_MS)
    tell(true)
  }

  function down(reason: string): void {
    failures++
    lastError = reason
    // the first check of all decides by itself: nothing was announced yet
    if (isUp === true && failures < CHECKS_UNTIL_DOWN) return checkIn(RECHECK_MS)
    backoff.failed()
    checkIn(backoff.remainingMs())
    tell(false)
  }

  async function check(): Promise<void> {
    if (isChecking || ended.signal.aborted) return
    if (target.type === 'program') return tell(true)
    if (target.type === 'udp') return up()
    isChecking = true
    const address = socketAddressOf(target)
    try {
      const socket = await dial({ address, withinMs: CHECK_TIMEOUT_MS, clock, signal: ended.signal })
      isChecking = false
      socket.on('error', () => {})
      socket.destroy()
      up()
    } catch (error) {
      isChecking = false
      if (!ended.signal.aborted) down(toError(error).message)
    }
  }

  function checkIn(delayMs: number): void {
    cancel()
    if (!ended.signal.aborted) cancel = clock.after(delayMs, () => void check())
  }

  // not before the caller has what is returned here
  queueMicrotask(() => void check())
  return {
    get isUp() {
      return isUp
    },
    get since() {
      return since
    },
    get lastError() {
      return lastError
    },
    worked: up,
    failed(reason) {
      if (target.type === 'udp') lastError = reason
      else if (isUp === true && failures === 0) {
        lastError = reason
        checkIn(0)
      }
    },
    stop() {
      ended.abort(new Error('stopped'))
      cancel()
    },
  }
}
