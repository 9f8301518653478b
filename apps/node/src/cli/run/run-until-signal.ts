/**
 * Runs something until Ctrl-C, SIGTERM or the end of its terminal, and then stops it within two seconds; the second signal
 * ends the process at once. An error that nobody caught is logged, and ends it too.
 */
import { constants } from 'node:os'
import { isatty } from 'node:tty'
import { type Logger, systemClock } from '@mesh/core'
import { EXIT } from '../../errors.ts'

/** The process is to be gone after two seconds. */
const STOP_TIMEOUT_MS = 1_800
const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const

export interface Running {
  stop(): Promise<void>
  /**
   * Resolves with the exit code when it has done all that it was for, or soon after the signal; rejects when it cannot.
   */
  readonly done?: Promise<number>
}

/** Resolves with the exit code; rejects with what `start` or `done` rejects with. */
export async function runUntilSignal(
  log: Logger,
  start: (signal: AbortSignal) => Promise<Running>,
): Promise<number> {
  const asked = new AbortController()
  let failure: { readonly error: unknown } | undefined
  // whoever read what it prints is gone, or the disk is full: that ends a command, but no node
  process.stdout.removeAllListeners('error').on('error', () => {})
  const end = waitForEnd(log, asked)
  const starting = start(asked.signal)
  const first = await Promise.race([starting, end])
  const ended = typeof first === 'number' ? first : (first.done ?? end)
  const code = await Promise.resolve(ended).catch((error: unknown) => {
    failure = { error }
    return EXIT.failed.code
  })
  const stopped = starting.then(
    (running) => running.stop(),
    () => {},
  )
  const isStopped = await isInTime(stopped, log)
  if (failure !== undefined) throw failure.error
  return isStopped ? code : EXIT.failed.code
}

/** Resolves with the exit code when the process is asked to end, or must. */
function waitForEnd(log: Logger, asked: AbortController): Promise<number> {
  // Node undoes that `nohup` has SIGHUP ignored, which leaves no stream at the terminal
  const hasTerminal = [0, 1, 2].some((descriptor) => isatty(descriptor))
  return new Promise((resolve) => {
    for (const signal of SIGNALS) {
      process.on(signal, () => {
        if (signal === 'SIGHUP' && !hasTerminal) return log.info('its terminal is gone, and it goes on')
        if (asked.signal.aborted) process.exit(128 + constants.signals[signal])
        log.info('stopping', { signal })
        asked.abort(new Error(`stopped by ${signal}`))
        resolve(EXIT.ok.code)
      })
    }
    const onError = (error: unknown) => {
      log.error('unexpected error', { code: 'node.unexpected', error })
      asked.abort(error)
      resolve(EXIT.failed.code)
    }
    process.on('uncaughtException', onError)
    process.on('unhandledRejection', onError)
  })
}

async function isInTime(stopped: Promise<void>, log: Logger): Promise<boolean> {
  const late = new Promise<'late'>((resolve) => {
    systemClock.after(STOP_TIMEOUT_MS, () => resolve('late'))
  })
  try {
    if ((await Promise.race([stopped, late])) !== 'late') return true
    log.warn('did not stop in time; what is in the ledger is safe')
  } catch (error) {
    log.error('could not stop cleanly', { error })
  }
  return false
}
