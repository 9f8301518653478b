/** Values of the bucket `healthcheck` say when a node was last alive. */

/** Writes a heartbeat's Value: RFC 3339 UTC in whole seconds, as JSON text. Takes unix ms. */
export function heartbeatValue(ms: number): string {
  return `"${new Date(ms).toISOString().slice(0, 19)}Z"`
}

/** Reads the time in a heartbeat's Value, in unix ms; undefined when it is no JSON string of RFC 3339. */
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

const RFC3339 = /^(\d{4})-(\d\d)-(\d\d)T(\d\d):(\d\d):(\d\d)(?:[.,](\d+))?(Z|[+-]\d\d:\d\d)$/

/** Unix ms of an RFC 3339 text; undefined when it is none or names a time that does not exist. */
function parseRfc3339(text: string): number | undefined {
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
