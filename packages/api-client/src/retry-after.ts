import { type Clock } from '@mesh/core'

/** Reads the header, seconds or a date, as ms from now; undefined when it is neither. */
export function parseRetryAfter(header: string | null, now: number): number | undefined {
  if (header === null || header.trim() === '') return undefined
  const ms = /^\s*\d{1,9}\s*$/.test(header) ? Number(header) * 1_000 : Date.parse(header) - now
  return Number.isNaN(ms) ? undefined : Math.max(0, ms)
}

/** How long the server asks to wait, in ms. */
export function retryAfterOf({ headers }: Response, clock: Clock): number | undefined {
  return parseRetryAfter(headers.get('retry-after'), clock.now())
}
