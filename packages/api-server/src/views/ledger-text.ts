/**
 * The ledger as JSON text. What is asked often is made once for each snapshot and kept while that is the last one:
 * the whole ledger, the whole block, and buckets. A value's text is checked once in the life of its entry and then
 * spliced as it was signed, so that no digit is lost.
 */
import { BUCKETS } from '@mesh/core'
import { dnsRecordsByName } from '@mesh/api-contract'
import type { Entry, Ledger, Snapshot } from '@mesh/ledger'
import { MAX_KEPT_BUCKETS, MAX_VALUE_DEPTH } from '../limits.ts'
import { isNestedDeeper, tryParseJson } from './json-text.ts'

/** Decoded values, or the signed texts as JSON strings. */
type ValueForm = 'json' | 'text'

export interface LedgerText {
  readonly snapshot: Snapshot
  /** Gives the text for ETags; it is another one after every block. */
  etag(form: ValueForm): string
  ledger(form: ValueForm): Buffer
  bucket(bucket: string, form: ValueForm): Buffer
  /** Undefined when there is no live entry. */
  value(bucket: string, key: string, form: ValueForm): string | undefined
  block(): Buffer
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
  const whole = new Map<ValueForm, Buffer>()
  const buckets = new Map<string, Buffer>()
  let block: Buffer | undefined
  return {
    snapshot,
    etag: (form) => `"${snapshot.head.hash}${form === 'text' ? '-text' : ''}"`,
    ledger(form) {
      const kept = whole.get(form) ?? Buffer.from(ledgerText(snapshot, form))
      whole.set(form, kept)
      return kept
    },
    bucket(bucket, form) {
      const id = `${form} ${bucket}`
      const kept = buckets.get(id)
      if (kept !== undefined) return kept
      if (buckets.size >= MAX_KEPT_BUCKETS) buckets.clear()
      const made = Buffer.from(`${bucketText(snapshot, bucket, form)}\n`)
      buckets.set(id, made)
      return made
    },
    value(bucket, key, form) {
      const entry = snapshot.getLive(bucket, key)
      return entry && `${valueText(bucket, entry, form)}\n`
    },
    block: () => (block ??= Buffer.from(blockText(snapshot))),
  }
}

function ledgerText(snapshot: Snapshot, form: ValueForm): string {
  const buckets = snapshot
    .buckets()
    .map((bucket) => `${JSON.stringify(bucket)}:${bucketText(snapshot, bucket, form)}`)
  return `{${buckets.join(',')}}\n`
}

function bucketText(snapshot: Snapshot, bucket: string, form: ValueForm): string {
  const members: string[] = []
  for (const { key, entry } of snapshot.entries(bucket)) {
    if (!entry.deleted) members.push(`${JSON.stringify(key)}:${valueText(bucket, entry, form)}`)
  }
  return `{${members.join(',')}}`
}

function valueText(bucket: string, entry: Entry, form: ValueForm): string {
  return form === 'text' ? JSON.stringify(entry.value) : decodedText(bucket, entry)
}

/** Entries never change; holds no second copy of a value's text. */
const decoded = new WeakMap<Entry, string>()

function decodedText(bucket: string, entry: Entry): string {
  const known = decoded.get(entry)
  if (known !== undefined) return known
  const text = decode(bucket, entry.value)
  decoded.set(entry, text)
  return text
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

function blockText(snapshot: Snapshot): string {
  const { index, timestamp, hash, prevHash } = snapshot.head
  const buckets: string[] = []
  let bucket: string | undefined
  let members: string[] = []
  const close = () => {
    if (bucket !== undefined) buckets.push(`${JSON.stringify(bucket)}:{${members.join(',')}}`)
  }
  for (const { bucket: next, key, entry } of snapshot.entries()) {
    if (next !== bucket) {
      close()
      bucket = next
      members = []
    }
    members.push(`${JSON.stringify(key)}:${signedEntryText(entry)}`)
  }
  close()
  return (
    `{"Index":${index},"Timestamp":${JSON.stringify(timestamp)},"Storage":{${buckets.join(',')}},` +
    `"Hash":${JSON.stringify(hash)},"PrevHash":${JSON.stringify(prevHash)}}\n`
  )
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
