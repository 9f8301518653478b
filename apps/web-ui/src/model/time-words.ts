const SECOND = 1_000
const MINUTE = 60 * SECOND
const HOUR = 60 * MINUTE
const DAY = 24 * HOUR

/** Below this, something happened `now`. */
const NOW_MS = 4 * SECOND

/** `now`, `14 s`, `2 min`, `3 h`, `6 d`: how long ago, short enough for a column. */
export function ageInWords(ms: number): string {
  if (ms < NOW_MS) return 'now'
  return spanInWords(ms)
}

/** Prints an age as `ageInWords` does, without `now`: `0 s`, `14 s`, `2 min`. */
export function spanInWords(ms: number): string {
  if (ms < MINUTE) return `${Math.max(0, Math.floor(ms / SECOND))} s`
  if (ms < HOUR) return `${Math.floor(ms / MINUTE)} min`
  if (ms < 2 * DAY) return `${Math.floor(ms / HOUR)} h`
  return `${Math.floor(ms / DAY)} d`
}

/** Prints a moment for hover and screen readers: `21 Nov 2026, 14:02:09`, in the reader's zone. */
export function exactTime(atMs: number): string {
  return EXACT.format(atMs)
}

/** `14:02`, in the reader's zone. */
export function clockTime(atMs: number): string {
  return CLOCK.format(atMs)
}

/** Prints since when something is: `14:02`, or `21 Nov` where that is more than a day ago. */
export function sinceInWords(atMs: number, nowMs: number): string {
  return nowMs - atMs < DAY ? clockTime(atMs) : DATE.format(atMs)
}

/** `14:02:09`, in the reader's zone. */
export function secondTime(atMs: number): string {
  return SECONDS.format(atMs)
}

/** Four milliseconds are `4 ms`; below one, one digit is kept. */
export function roundTripInWords(ms: number): string {
  if (ms >= 10) return `${Math.round(ms)} ms`
  return `${ms < 1 ? ms.toFixed(1) : Number(ms.toFixed(1))} ms`
}

const EXACT = new Intl.DateTimeFormat('en-GB', { dateStyle: 'medium', timeStyle: 'medium' })
const CLOCK = new Intl.DateTimeFormat('en-GB', { hour: '2-digit', minute: '2-digit' })
const DATE = new Intl.DateTimeFormat('en-GB', { day: 'numeric', month: 'short' })
const SECONDS = new Intl.DateTimeFormat('en-GB', { timeStyle: 'medium' })
