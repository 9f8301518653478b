/** Times as Go programs write and read them. */

/** Go's `time.String()` in UTC: `2026-08-12 13:06:40.123456 +0000 UTC`, trailing zeros of the fraction dropped. */
export function formatGoTime(ms: number): string {
  const seconds = Math.floor(ms / 1000)
  const micros = Math.min(999_999, Math.floor((ms - seconds * 1000) * 1000))
  const fraction = micros === 0 ? '' : `.${micros.toString().padStart(6, '0').replace(/0+$/, '')}`
  return `${new Date(seconds * 1000).toISOString().slice(0, 19).replace('T', ' ')}${fraction} +0000 UTC`
}

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/

/** Unix milliseconds of an RFC 3339 text; undefined when it is none or names a time that does not exist. */
export function parseRfc3339(text: string): number | undefined {
  const match = RFC3339.exec(text)
  if (match === null) return undefined
  const [year = 0, month = 0, day = 0, hour = 0, minute = 0, second = 0] = match.slice(1, 7).map(Number)
  if (hour > 23 || minute > 59 || second > 59) return undefined
  const date = new Date(0)
  date.setUTCFullYear(year, month - 1, day)
  if (date.getUTCMonth() !== month - 1 || date.getUTCDate() !== day) return undefined
  const offset = offsetMinutes(match[8] ?? 'Z')
  if (offset === undefined) return undefined
  const fraction = Number(`0.${match[7] ?? '0'}`)
  return date.getTime() + (hour * 3600 + (minute - offset) * 60 + second + fraction) * 1000
}

function offsetMinutes(zone: string): number | undefined {
  if (zone === 'Z') return 0
  const hours = Number(zone.slice(1, 3))
  const minutes = Number(zone.slice(4, 6))
  if (hours > 24 || minutes > 60) return undefined
  return (zone.startsWith('-') ? -1 : 1) * (hours * 60 + minutes)
}

/** A heartbeat's Value: RFC 3339 UTC, whole seconds, as JSON text. */
export function heartbeatValue(ms: number): string {
  return `"${new Date(ms).toISOString().slice(0, 19)}Z"`
}

/** The time in a heartbeat's Value; undefined when it is no JSON string of RFC 3339. */
export function parseHeartbeat(valueText: string): number | undefined {
  if (valueText.length > 128) return undefined
  let value: unknown
  try {
    value = JSON.parse(valueText)
  } catch {
    return undefined
  }
  return typeof value === 'string' ? parseRfc3339(value) : undefined
}
