/** Times as Go programs print them. */

/** Go's `time.String()` in UTC: `2026-08-12 13:06:40.123456 +0000 UTC`, trailing zeros of the fraction dropped. */
export function formatGoTime(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const micros = Math.min(999_999, Math.floor((ms - seconds * 1000) * 1000))
  const fraction = micros === 0 ? '' : `.${micros.toString().padStart(6, '0').replace(/0+$/, '')}`
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}${fraction} +0000 UTC`
}
