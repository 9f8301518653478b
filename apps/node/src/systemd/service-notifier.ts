/**
 * Tells systemd how the service is: ready, stopping, and alive as often as its watchdog asks (sd_notify(3)). Node has no
 * datagram sockets of the unix family, so systemd's own `systemd-notify` sends each message; units need
 * `NotifyAccess=all` for that. A node whose event loop hangs sends nothing, and systemd starts it anew.
 */
import { type Clock, type Logger, toError } from '@mesh/core'

/** The environment in which systemd says what it is. */
export interface ServiceInit {
  readonly environment: Readonly<Record<string, string | undefined>>
  readonly pid: number
}

export interface ServiceComponents {
  readonly clock: Clock
  readonly log: Logger
  /** Sends assignments like `READY=1`; rejects when they could not be sent. */
  readonly send: (assignments: readonly string[]) => Promise<void>
}

export interface ServiceNotifier {
  /** The node stands: tells so, and begins to answer the watchdog. */
  ready(status: string): void
  /** The node is ending. Idempotent. */
  stopping(): void
}

/** The watchdog is answered this many times as often as it asks, so that one message may come late. */
const WATCHDOG_FACTOR = 3
const LEAST_INTERVAL_MS = 100

/** Does nothing where no service manager listens. */
export function createServiceNotifier(
  { environment, pid }: ServiceInit,
  { clock, log, send }: ServiceComponents,
): ServiceNotifier {
  if ((environment['NOTIFY_SOCKET'] ?? '') === '') return { ready: () => {}, stopping: () => {} }
  const intervalMs = watchdogInterval(environment, pid)
  let cancel = () => {}
  let isTold = false
  let isStopping = false
  const tell = (...assignments: readonly string[]) => {
    void send(assignments).catch((error: unknown) => {
      if (!isTold) log.warn('the service manager was not told', { error: toError(error) })
      isTold = true
    })
  }
  const answerWatchdog = () => {
    tell('WATCHDOG=1')
    if (intervalMs !== undefined) cancel = clock.after(intervalMs, answerWatchdog)
  }
  return {
    ready(status) {
      if (isStopping) return
      tell('READY=1', `STATUS=${status}`)
      if (intervalMs !== undefined) cancel = clock.after(intervalMs, answerWatchdog)
    },
    stopping() {
      if (isStopping) return
      isStopping = true
      cancel()
      tell('STOPPING=1')
    },
  }
}

/** Undefined where the watchdog is off, or meant for another process. */
function watchdogInterval(environment: ServiceInit['environment'], pid: number): number | undefined {
  const { WATCHDOG_USEC: period = '', WATCHDOG_PID: forPid = String(pid) } = environment
  if (!/^[1-9]\d{0,15}$/.test(period) || forPid !== String(pid)) return undefined
  return Math.max(LEAST_INTERVAL_MS, Number(period) / 1_000 / WATCHDOG_FACTOR)
}
