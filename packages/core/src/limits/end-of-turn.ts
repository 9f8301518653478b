import { systemClock } from '../clock.ts'

/** Calls `run` when the event loop has handled the input that has come: some work costs less once for many inputs. */
export function endOfTurn(run: () => void): void {
  // browsers have no setImmediate
  if (typeof setImmediate === 'function') setImmediate(run)
  else systemClock.after(0, run)
}
