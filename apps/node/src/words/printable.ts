/** Prints texts and values that others wrote, with what is safe on a terminal. */
import { printable, stringifyExactJson } from '@mesh/core'

/** A text of several lines: line feeds and tabs stay. */
export function printableText(text: string): string {
  return text.replaceAll(/[^\n\t]+/g, (part) => printable(part))
}

/**
 * The value as JSON, `bigint` with all its digits, followed by a line feed. The same characters as in `printable` are
 * escaped, which changes no value: outside of its texts JSON has none of them but line feeds.
 *
 * @param indent number of spaces for each level; without it all stands in one line
 */
export function printableJson(value: unknown, indent?: number): string {
  return `${stringifyExactJson(value, indent).replaceAll(/[^\n]+/g, (line) => printable(line))}\n`
}
