/** `mesh ledger get|put|delete|list`: the ledger of a running node. */
import type { ApiClient } from '@mesh/api-client'
import { type BucketView, type LedgerView, MAX_VALUE_BYTES } from '@mesh/api-contract'
import { MeshError, parseExactJson, printable, stringifyExactJson } from '@mesh/core'
import { printableJson } from '../../words/printable.ts'
import { shellWord } from '../../words/shell-word.ts'
import type { Call, Run } from '../command.ts'
import { findNode } from '../find-node.ts'
import { formatTable } from '../format-table.ts'

const INDENT = 2

export const runGet: Run = async (call) => {
  const { positionals, settings, out, isTerminal } = call
  const [bucket, key] = positionals
  const client = await findNode(call)
  if (bucket === undefined) out(formatJson(await readLedger(client)))
  else if (key !== undefined) {
    const value = await client.getEntry({ bucket, key })
    // for scripts a text comes as it is; on a terminal, what others wrote must not steer it
    if (settings.json || typeof value !== 'string') out(formatJson(value))
    else out(isTerminal ? `${value.split('\n').map(printable).join('\n')}\n` : `${value}\n`)
  } else {
    const values = await readBucket(client, bucket)
    if (settings.json) out(formatJson(values))
    else
      out(
        formatTable(
          ['KEY', 'VALUE'],
          Object.entries(values).map(([name, value]) => [name, oneLine(value)]),
        ),
      )
  }
  return 0
}

export const runPut: Run = async (call) => {
  const { positionals, settings, out } = call
  const [bucket = '', key = '', text = ''] = positionals
  const given = text === '-' ? await call.readInput(2 * MAX_VALUE_BYTES) : text
  const { json, keep, field } = settings
  // only an object has fields
  const body = json || field !== undefined ? parseValue(given) : given
  const client = await findNode(call)
  const renewed = { ...(keep !== undefined && { keep }), ...(field !== undefined && { field }) }
  const answer = await client.putJson({ bucket, key, body, ...renewed, ...waitOf(call) })
  out(json ? formatJson(answer) : `${describeWrite(answer)}\n`)
  if (keep !== undefined && !json) {
    const place = [bucket, key].map(shellWord).join(' ')
    out(`The node renews it every ${keep} while it runs; \`mesh ledger delete ${place}\` ends that.\n`)
  }
  return 0
}

export const runDelete: Run = async (call) => {
  const { positionals, settings, out, note } = call
  const [bucket = '', key] = positionals
  const client = await findNode(call)
  if (key !== undefined) {
    const answer = await client.deleteEntry({ bucket, key, ...waitOf(call) })
    const nothing = `nothing to delete: ${printable(bucket)} has no key ${printable(key)}`
    out(settings.json ? formatJson(answer) : `${answer.Absent ? nothing : describeWrite(answer)}\n`)
    return 0
  }
  const answer = await client.deleteBucket({ bucket, ...waitOf(call) })
  const nothing = `nothing to delete: ${printable(bucket)} is empty`
  out(settings.json ? formatJson(answer) : `${answer.Absent ? nothing : describeWrite(answer)}\n`)
  for (const { Key, Owner } of settings.json ? [] : (answer.Refused ?? [])) {
    note(`stays: ${printable(Key)} (owned by ${printable(Owner)})`)
  }
  return 0
}

export const runList: Run = async (call) => {
  const { positionals, settings, out } = call
  const [bucket] = positionals
  const client = await findNode(call)
  if (bucket !== undefined) {
    const keys: string[] = []
    for await (const page of client.pages('getBucket', { bucket })) {
      if (settings.json) keys.push(...Object.keys(page).toSorted())
      else
        out(
          Object.keys(page)
            .toSorted()
            .map((key) => `${printable(key)}\n`)
            .join(''),
        )
    }
    if (settings.json) out(formatJson(keys))
    return 0
  }
  const buckets = await countKeys(client)
  if (settings.json) out(formatJson(buckets.map(([Bucket, Entries]) => ({ Bucket, Entries }))))
  else
    out(
      formatTable(
        ['BUCKET', 'ENTRIES'],
        buckets.map(([name, count]) => [name, String(count)]),
      ),
    )
  return 0
}

/** The values of a bucket, read page by page: a node makes and holds one page at a time. */
async function readBucket(client: ApiClient, bucket: string): Promise<BucketView> {
  const values = emptyMap<unknown>()
  for await (const page of client.pages('getBucket', { bucket })) Object.assign(values, page)
  return values
}

/** The values of all buckets, read page by page; a bucket may begin on one page and end on another. */
async function readLedger(client: ApiClient): Promise<LedgerView> {
  const ledger = emptyMap<BucketView>()
  for await (const page of client.pages('getLedger', {})) {
    for (const [bucket, values] of Object.entries(page)) {
      ledger[bucket] = Object.assign(ledger[bucket] ?? emptyMap<unknown>(), values)
    }
  }
  return ledger
}

async function countKeys(client: ApiClient): Promise<readonly (readonly [bucket: string, keys: number])[]> {
  const counts = new Map<string, number>()
  for await (const page of client.pages('getLedger', {})) {
    for (const [bucket, values] of Object.entries(page)) {
      counts.set(bucket, (counts.get(bucket) ?? 0) + Object.keys(values).length)
    }
  }
  return [...counts]
}

/** Gives a map without a prototype, so that a key `__proto__` is a key like any other. */
function emptyMap<Value>(): Record<string, Value> {
  return Object.create(null)
}

function waitOf({ settings }: Call): { readonly wait?: string } {
  return settings.wait === 0 ? {} : { wait: `${settings.wait}ms` }
}

function describeWrite({
  State,
  Block,
}: {
  readonly State: string
  readonly Block?: number | undefined
}): string {
  if (State === 'Committed') return `committed in block ${Block}`
  if (State === 'Superseded') return 'superseded: a newer write of the same key took its place'
  return 'announcing: not in a block yet'
}

function parseValue(text: string): unknown {
  try {
    return parseExactJson(text)
  } catch (cause) {
    throw new MeshError('node.bad_input', 'VALUE is not JSON', {
      cause,
      hint: 'With --json a text needs quotes: \'"hello"\'. Leave --json out to write a plain text.',
    })
  }
}

function formatJson(value: unknown): string {
  return printableJson(value, INDENT)
}

function oneLine(value: unknown): string {
  return typeof value === 'string' ? value : stringifyExactJson(value)
}
