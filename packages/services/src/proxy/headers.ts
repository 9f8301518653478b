/** Headers that a proxy passes on. */

/** Headers of one connection (RFC 9110, 7.6.1), or between a client and its proxy, which are not passed on. `expect` is answered here. */
const HOP_BY_HOP = new Set([
  'connection',
  'expect',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-authentication-info',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
])

/** @param raw names and values by turns, as Node gives them; so is the result @param without further names, lower case */
export function endToEnd(raw: readonly string[], without: readonly string[] = []): string[] {
  const named = new Set(without)
  for (const [name, value] of pairs(raw)) {
    if (name.toLowerCase() !== 'connection') continue
    for (const each of value.split(',')) named.add(each.trim().toLowerCase())
  }
  return pairs(raw).flatMap(([name, value]) => {
    const lower = name.toLowerCase()
    return HOP_BY_HOP.has(lower) || named.has(lower) ? [] : [name, value]
  })
}

export function hasHeader(raw: readonly string[], wanted: string): boolean {
  return pairs(raw).some(([name]) => name.toLowerCase() === wanted)
}

function pairs(raw: readonly string[]): (readonly [string, string])[] {
  return Array.from(
    { length: raw.length / 2 },
    (_, at) => [raw[2 * at] ?? '', raw[2 * at + 1] ?? ''] as const,
  )
}
