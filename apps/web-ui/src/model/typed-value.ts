/** Reads what a person types as a value, and says what a value looks like when it is typed. */
import { parseExactJson, stringifyExactJson } from '@mesh/core'

export type TypedValue =
  | { readonly kind: 'json'; readonly value: unknown }
  /** Not JSON: it is meant, and stored, as a string. */
  | { readonly kind: 'text'; readonly value: string }

export function readTypedValue(text: string): TypedValue {
  try {
    return { kind: 'json', value: parseExactJson(text) }
  } catch {
    return { kind: 'text', value: text }
  }
}

/** A string stands without quotes where nobody could take it for other JSON. */
export function printForTyping(value: unknown): string {
  if (typeof value === 'string' && readTypedValue(value).kind === 'text') return value
  return stringifyExactJson(value, 2)
}

/** One line for a table. */
export function printInLine(value: unknown): string {
  return typeof value === 'string' ? value : stringifyExactJson(value)
}

/** `text, 5 characters`, `object with 3 fields`: what will be stored, in words. */
export function describeValue(value: unknown): string {
  if (typeof value === 'string') return `text, ${plural(value.length, 'character')}`
  if (Array.isArray(value)) return `list of ${value.length}`
  if (typeof value === 'object' && value !== null) {
    return `object with ${plural(Object.keys(value).length, 'field')}`
  }
  return value === null ? 'null' : typeof value === 'bigint' ? 'number' : typeof value
}

function plural(count: number, noun: string): string {
  return `${count} ${noun}${count === 1 ? '' : 's'}`
}
