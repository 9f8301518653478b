/** Changes one value of a JSON text, so that it stays JSON. */
import type { Mutation } from './mutation.ts'

/** Texts of values that decoders may not expect. */
const VALUES = [
  [
    'null',
    'true',
    '0',
    '-1',
    '1.5',
    '1e308',
    '1e999',
    '18446744073709551616',
    '""',
    '"\\u0000"',
    '"\\ud800"',
  ],
  ['[]', '{}', '[[]]', '{"__proto__":{"a":1}}', '{"constructor":1,"toString":2}', '{"":0}'],
  [
    `"${'x'.repeat(5_000)}"`,
    `${'['.repeat(2_000)}${']'.repeat(2_000)}`,
    `${'{"a":'.repeat(1_000)}1${'}'.repeat(1_000)}`,
    `[${'0,'.repeat(2_000)}0]`,
  ],
].flat()
/** A string, a number or a word, or the beginning of a container. */
const TOKEN = /"(?:[^"\\]|\\.)*"(?!\s*:)|-?\d[\d.eE+-]*|true|false|null/g
const NAME = /"(?:[^"\\]|\\.)*"(?=\s*:)/g

export function mutateJson(bytes: Uint8Array, { at, count }: Mutation): Uint8Array {
  const text = Buffer.from(bytes).toString('utf8')
  const isName = count % 4 === 3
  const found = [...text.matchAll(isName ? NAME : TOKEN)]
  const token = found[Math.floor(at * found.length)]
  if (token === undefined) return bytes
  const value = isName
    ? ['"__proto__"', '""', token[0].toUpperCase(), '"constructor"'][count % 4 === 3 ? (count >> 2) % 4 : 0]
    : VALUES[(count >> 2) % VALUES.length]
  return Buffer.from(text.slice(0, token.index) + (value ?? '0') + text.slice(token.index + token[0].length))
}
