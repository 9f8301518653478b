import { MeshError } from './mesh-error.ts'

const UNIT_MS = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 } as const

/** Milliseconds of `500ms`, `5s`, `1.5s`, `2m`, `1h30m`, `30d`; undefined when the text has another form. */
export function tryParseDuration(text: string): number | undefined {
  if (text.length > 32 || !/^(\d+(\.\d+)?(ms|s|m|h|d))+$/.test(text)) return undefined
  let total = 0
  for (const [, amount, unit] of text.matchAll(/(\d+(?:\.\d+)?)(ms|s|m|h|d)/g)) {
    total += Number(amount) * UNIT_MS[unit as keyof typeof UNIT_MS]
  }
  return Number.isFinite(total) ? total : undefined
}

/** @throws MeshError `core.bad_duration` */
export function parseDuration(text: string): number {
  const ms = tryParseDuration(text)
  if (ms !== undefined) return ms
  throw new MeshError('core.bad_duration', `not a duration: ${JSON.stringify(text.slice(0, 40))}`, {
    hint: 'Durations look like 500ms, 5s or 1h30m.',
  })
}
