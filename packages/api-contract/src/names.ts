/** The names and ids that stand in paths and queries. */
import { tryParseDuration } from '@mesh/core'
import * as z from 'zod'
import {
  MAX_ADDRESS_BYTES,
  MAX_BUCKET_BYTES,
  MAX_KEEP_MS,
  MAX_KEY_BYTES,
  MAX_VALUE_BYTES,
  MAX_WAIT_MS,
  MIN_KEEP_MS,
} from './limits.ts'

const encoder = new TextEncoder()

/** Text of 1 to `max` bytes in UTF-8 without NUL; messages name limit and size. */
function boundedText(max: number) {
  return z.string().check((context) => {
    const { value } = context
    const issue = nameIssue(value) ?? lengthIssue(value, max)
    if (issue !== undefined) context.issues.push({ code: 'custom', message: issue, input: value })
  })
}

function nameIssue(value: string): string | undefined {
  if (value === '') return 'at least one character'
  return value.includes('\0') ? 'text without the character NUL' : undefined
}

function lengthIssue(value: string, max: number): string | undefined {
  // three bytes are the most that a UTF-16 unit takes
  if (value.length * 3 <= max) return undefined
  const { length } = encoder.encode(value)
  return length > max ? `at most ${max} bytes in UTF-8, this has ${length}` : undefined
}

/** A name that other members gave, which may be empty and hold whatever the ledger takes. */
function heldText(max: number) {
  return z.string().check((context) => {
    const { value } = context
    const issue = lengthIssue(value, max)
    if (issue !== undefined) context.issues.push({ code: 'custom', message: issue, input: value })
  })
}

/** The name of a bucket. */
export const bucketName = boundedText(MAX_BUCKET_BYTES).meta({ example: 'services' })
/** A key in a bucket. */
export const entryKey = boundedText(MAX_KEY_BYTES).meta({ example: 'web' })
/** The name of a bucket that stands in the ledger, where a page ends. */
export const heldBucket = heldText(MAX_BUCKET_BYTES)
/** A key that stands in the ledger, where a page ends. */
export const heldKey = heldText(MAX_KEY_BYTES).meta({ example: 'web' })
/** A value in the path: any text; stored as a JSON string. */
export const pathValue = boundedText(MAX_VALUE_BYTES).meta({ example: 'hello' })
/** A path or address of the machine that the node runs on. */
export const boundedAddress = boundedText(MAX_ADDRESS_BYTES)
/** Any name that is only looked up. */
export const lookupName = boundedText(MAX_KEY_BYTES)

/** `20s`, `5m`; gives milliseconds. */
export const keepDuration = z
  .string()
  .transform((text, context) => {
    const ms = tryParseDuration(text)
    if (ms !== undefined && ms >= MIN_KEEP_MS && ms <= MAX_KEEP_MS) return ms
    context.addIssue({ code: 'custom', message: 'a duration from 1s to 24h' })
    return z.NEVER
  })
  .meta({
    type: 'string',
    description:
      'The node renews the entry as often as this while it runs, and deletes it at its end. Another write or a deletion of the key ends that.',
    example: '20s',
  })

/** The fencing number of a lease, in decimal digits. */
export const leaseNumber = z
  .string()
  .transform((text, context) => {
    if (/^\d{1,16}$/.test(text) && Number.isSafeInteger(Number(text))) return Number(text)
    context.addIssue({ code: 'custom', message: 'the number of a lease' })
    return z.NEVER
  })
  .meta({ type: 'integer', minimum: 0, description: 'Its number.' })

/** `15s`, `1m`; gives milliseconds. */
export const leaseDuration = z
  .string()
  .transform((text, context) => {
    const ms = tryParseDuration(text)
    if (ms !== undefined) return ms
    context.addIssue({ code: 'custom', message: 'a duration from 5s to 1h' })
    return z.NEVER
  })
  .meta({
    type: 'string',
    description: 'How long the lease lasts after each renewal, from 5s to 1h.',
    example: '15s',
  })

/** The name of the field of a value that holds the time of its renewal, from `NAME=now`. */
export const timeField = z
  .string()
  .max(MAX_KEY_BYTES)
  .transform((text, context) => {
    const [, name] = /^([^=]+)=now$/.exec(text) ?? []
    if (name !== undefined) return name
    context.addIssue({ code: 'custom', message: 'NAME=now, as in LastSeen=now' })
    return z.NEVER
  })
  .meta({
    type: 'string',
    description:
      'With `keep`: the field of the value, a JSON object, that says when it was renewed (RFC 3339).',
    example: 'LastSeen=now',
  })

/** A whole number in decimal digits. */
export const wholeNumber = z
  .string()
  .transform((text, context) => {
    if (/^\d{1,15}$/.test(text)) return Number(text)
    context.addIssue({ code: 'custom', message: 'a whole number' })
    return z.NEVER
  })
  .meta({ type: 'integer', minimum: 0 })

/** `5s`, `500ms`; gives milliseconds, at most 60,000. */
export const waitDuration = z
  .string()
  .transform((text, context) => {
    const ms = tryParseDuration(text)
    if (ms !== undefined) return Math.min(ms, MAX_WAIT_MS)
    context.addIssue({ code: 'custom', message: 'a duration like 5s or 500ms' })
    return z.NEVER
  })
  .meta({
    type: 'string',
    description: 'Answer after the commit, or when this time is over (5s, 500ms; at most 60s).',
    example: '5s',
  })
