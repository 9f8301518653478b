/** Keeps of a text that others wrote what is safe on a terminal. */
import { stringifyExactJson } from '@mesh/core'

/**
 * Control characters (C0, DEL, C1), which could move the cursor or colour what follows, and characters that reorder
 * text or end a line.
 */
// eslint-disable-next-line no-control-regex
const UNSAFE = /[\u0000-\u001F\u007F-\u009F\u061C\u200E\u200F\u2028-\u202E\u2066-\u2069]/g

/** The text with every character that a terminal would act on shown as an escape. */
export function printable(text: string): string {
  return text.replaceAll(UNSAFE, escape)
}

/** The same for a text of several lines: line feeds and tabs stay. */
export function printableText(text: string): string {
  return text.replaceAll(UNSAFE, (character) =>
    character === '\n' || character === '\t' ? character : escape(character),
  )
}

/**
 * The value as JSON, `bigint` with all its digits, followed by a line feed. The same characters as in `printable` are
 * escaped, which changes no value: outside of its texts JSON has none of them but line feeds.
 *
 * @param indent number of spaces for each level; without it all stands in one line
 */
export function printableJson(value: unknown, indent?: number): string {
  const json = stringifyExactJson(value, indent)
  return `${json.replaceAll(UNSAFE, (character) => (character === '\n' ? character : escape(character)))}\n`
}

function escape(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`
}
