/**
 * JSON whose integers beyond 2^53 survive: read as `bigint`, written with all their digits. Ledger versions are
 * nanoseconds (about 1.8e18), which plain JSON would corrupt.
 */

/** `JSON.parse` with source text and `JSON.rawJSON` are in Node 22 and all browsers of 2025, not yet in the types. */
interface ExactJson {
  parse(
    text: string,
    reviver: (key: string, value: unknown, context: { source?: string }) => unknown,
  ): unknown
  rawJSON(text: string): unknown
}
const json = JSON as unknown as ExactJson

/** Integers outside the safe range become `bigint`; everything else is as `JSON.parse` reads it. */
export function parseExactJson(text: string): unknown {
  return json.parse(text, (_key, value, { source }) => {
    if (typeof value !== 'number' || Number.isSafeInteger(value) || source === undefined) return value
    return /^-?\d+$/.test(source) ? BigInt(source) : value
  })
}

/**
 * Prints like `JSON.stringify`, with `bigint` printed as a JSON number with all its digits.
 *
 * @param indent number of spaces for each level; without it all stands in one line
 */
export function stringifyExactJson(value: unknown, indent?: number): string {
  return JSON.stringify(
    value,
    (_key, inner) => (typeof inner === 'bigint' ? json.rawJSON(inner.toString()) : inner),
    indent,
  )
}
