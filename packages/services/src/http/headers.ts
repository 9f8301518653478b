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
  'transfer-encoding',
  'upgrade',
])

/** @param raw names, each with its value behind it, as Node gives them; so is the result @param without further names, lower case */
export function endToEnd(raw: readonly string[], without: readonly string[] = []): string[] {
  const named = namedByConnection(raw)
  const kept: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const [name = '', value = ''] = [raw[at], raw[at + 1]]
    const lower = name.toLowerCase()
    if (HOP_BY_HOP.has(lower) || without.includes(lower) || named.has(lower)) continue
    kept.push(name, value)
  }
  return kept
}

export function hasHeader(raw: readonly string[], wanted: string): boolean {
  return raw.some((name, at) => at % 2 === 0 && name.toLowerCase() === wanted)
}

/** The headers that a sender says are of this connection alone, lower case: a head has room for thousands of them. */
function namedByConnection(raw: readonly string[]): ReadonlySet<string> {
  const named = new Set<string>()
  for (let at = 0; at < raw.length; at += 2) {
    if (raw[at]?.toLowerCase() !== 'connection') continue
    for (const each of raw[at + 1]?.split(',') ?? []) named.add(each.trim().toLowerCase())
  }
  return named
}
