/**
 * The ledger as JSON text. What is small is made once for each snapshot and kept while that is the last one: the whole
 * ledger, the whole block, and buckets. What is large comes in pieces, and nothing of it is kept. A value's text is
 * spliced as it was signed, so that no digit is lost.
 */
import { BUCKETS } from '@mesh/core'
import { dnsRecordsByName } from '@mesh/api-contract'
import type { Entry, KeyedEntry, Ledger, Snapshot } from '@mesh/ledger'
import { MAX_KEPT_BUCKETS, MAX_VALUE_DEPTH } from '../limits.ts'
import { type AnswerBody, type AnswerPart, bodyOf } from './answer-parts.ts'
import { isNestedDeeper, tryParseJson } from './json-text.ts'

/** Decoded values, or the signed texts as JSON strings. */
export type ValueForm = 'json' | 'text'

export interface LedgerText {
  readonly snapshot: Snapshot
  /** Gives the text for ETags; it is another one after every block. */
  etag(form: ValueForm): string
  ledger(form: ValueForm): AnswerBody
  bucket(bucket: string, form: ValueForm): AnswerBody
  /** Undefined when there is no live entry. */
  value(bucket: string, key: string, form: ValueForm): string | undefined
  block(): AnswerBody
}

export interface LedgerTexts {
  /** The texts of the ledger's last snapshot: one object for as long as that is the last. */
  last(): LedgerText
  /** Frees what belongs to a snapshot that is no longer the last, until somebody asks again. */
  forget(): void
}

export function createLedgerTexts(ledger: Pick<Ledger, 'snapshot'>): LedgerTexts {
  let last: LedgerText | undefined
  return {
    last() {
      const snapshot = ledger.snapshot()
      if (last?.snapshot !== snapshot) last = textOf(snapshot)
      return last
    },
    forget() {
      last = undefined
    },
  }
}

function textOf(snapshot: Snapshot): LedgerText {
  const whole = new Map<ValueForm, AnswerBody>()
  const buckets = new Map<string, AnswerBody>()
  let block: AnswerBody | undefined
  return {
    snapshot,
    etag: (form) => `"${snapshot.head.hash}${form === 'text' ? '-text' : ''}"`,
    ledger(form) {
      const kept = whole.get(form) ?? bodyOf(() => ledgerPieces(snapshot, form))
      whole.set(form, kept)
      return kept
    },
    bucket(bucket, form) {
      const id = `${form} ${bucket}`
      const kept = buckets.get(id)
      if (kept !== undefined) return kept
      if (buckets.size >= MAX_KEPT_BUCKETS) buckets.clear()
      const made = bodyOf(() => bucketPieces(snapshot, bucket, form))
      buckets.set(id, made)
      return made
    },
    value(bucket, key, form) {
      const entry = snapshot.getLive(bucket, key)
      return entry && `${valueText(bucket, entry, form)}\n`
    },
    block: () => (block ??= bodyOf(() => blockPieces(snapshot))),
  }
}

function* ledgerPieces(snapshot: Snapshot, form: ValueForm): Generator<AnswerPart> {
  let before = '{'
  for (const bucket of snapshot.buckets()) {
    yield { text: `${before}${JSON.stringify(bucket)}:` }
    yield* membersOf(snapshot, bucket, form)
    before = ','
  }
  yield { text: before === '{' ? '{}\n' : '}\n' }
}

function* bucketPieces(snapshot: Snapshot, bucket: string, form: ValueForm): Generator<AnswerPart> {
  yield* membersOf(snapshot, bucket, form)
  yield { text: '\n' }
}

function* membersOf(snapshot: Snapshot, bucket: string, form: ValueForm): Generator<AnswerPart> {
  let before = '{'
  for (const row of snapshot.entries(bucket)) {
    if (row.entry.deleted) yield NOTHING
    else {
      yield { text: before + memberText(row, form) }
      before = ','
    }
  }
  yield { text: before === '{' ? '{}' : '}' }
}

const NOTHING: AnswerPart = { text: '' }

/** A live entry as it stands in the object of its bucket. */
export function memberText({ bucket, key, entry }: KeyedEntry, form: ValueForm): string {
  return `${JSON.stringify(key)}:${valueText(bucket, entry, form)}`
}

function valueText(bucket: string, entry: Entry, form: ValueForm): string {
  return form === 'text' ? JSON.stringify(entry.value) : decode(bucket, entry.value)
}

/** A value that is no JSON, or too deep for readers of JSON, is served as the string that it is. */
function decode(bucket: string, value: string): string {
  const parsed = tryParseJson(value)
  if (parsed === undefined || isNestedDeeper(value, MAX_VALUE_DEPTH)) return JSON.stringify(value)
  if (bucket === BUCKETS.dns && isTextRecord(parsed)) return JSON.stringify(dnsRecordsByName(parsed))
  return value
}

/** An object of text, as DNS records are. */
export function isTextRecord(value: unknown): value is Readonly<Record<string, string>> {
  return (
    typeof value === 'object' &&
    value !== null &&
    !Array.isArray(value) &&
    Object.values(value).every((inner) => typeof inner === 'string')
  )
}

function* blockPieces(snapshot: Snapshot): Generator<AnswerPart> {
  const { head, tail } = blockFrame(snapshot)
  yield { text: head }
  let bucket: string | undefined
  for (const { bucket: next, key, entry } of snapshot.entries()) {
    const before = next === bucket ? ',' : `${bucket === undefined ? '' : '},'}${JSON.stringify(next)}:{`
    bucket = next
    yield { text: `${before}${JSON.stringify(key)}:${signedEntryText(entry)}` }
  }
  yield { text: (bucket === undefined ? '' : '}') + tail }
}

/** The text of a block before and behind the members of `Storage`. */
export function blockFrame({ head }: Snapshot): { readonly head: string; readonly tail: string } {
  const { index, timestamp, hash, prevHash } = head
  return {
    head: `{"Index":${index},"Timestamp":${JSON.stringify(timestamp)},"Storage":{`,
    tail: `},"Hash":${JSON.stringify(hash)},"PrevHash":${JSON.stringify(prevHash)}}\n`,
  }
}

/** All six fields, the version with all its digits. */
export function signedEntryText(entry: Entry): string {
  const { value, owner, version, updatedAt, deleted, sig } = entry
  const signature = sig === null ? 'null' : `"${Buffer.from(sig).toString('base64')}"`
  return (
    `{"Value":${JSON.stringify(value)},"Owner":${JSON.stringify(owner)},"Version":${version},` +
    `"UpdatedAt":${updatedAt},"Deleted":${deleted},"Sig":${signature}}`
  )
}
