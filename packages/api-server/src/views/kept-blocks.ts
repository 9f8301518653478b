/** The last blocks since the start, each with what it changed. They are in memory, bounded in number and bytes. */
import { type BlocksView, KEPT_BLOCKS, MAX_LISTED_BLOCKS } from '@mesh/api-contract'
import { BoundedRing, positionId } from '@mesh/core'
import type { BlockHead, Change, Entry, Ledger } from '@mesh/ledger'
import {
  MAX_CHANGES_PER_BLOCK,
  MAX_KEPT_BLOCK_BYTES,
  MAX_KEPT_BLOCKS_BYTES,
  MAX_TOLD_BUCKETS,
} from '../limits.ts'
import { signedEntryText } from './ledger-text.ts'

interface KeptChange extends Pick<Change, 'bucket' | 'key' | 'entry' | 'previous'> {
  readonly bytes: number
}

interface KeptBlock {
  readonly head: BlockHead
  /** The kept changes by `positionId`. */
  readonly changes: ReadonlyMap<string, KeptChange>
  readonly buckets: ReadonlySet<string>
  /** The number of changes that are not kept. */
  readonly more: number
  readonly bytes: number
}

export interface KeptBlocks {
  /** Lists blocks without what they changed, the newest first. */
  list(query: { readonly before?: number | undefined; readonly last?: number | undefined }): BlocksView
  /** The JSON of a block with what it changed; undefined for a block that is not kept. */
  text(index: number): string | undefined
  stop(): void
}

/** Keeps the ledger's blocks from now on. */
export function keepBlocks(ledger: Pick<Ledger, 'subscribe' | 'snapshot'>): KeptBlocks {
  const ring = new BoundedRing<KeptBlock>({
    maxItems: KEPT_BLOCKS,
    maxSize: MAX_KEPT_BLOCKS_BYTES,
    sizeOf: ({ bytes }) => bytes,
  })
  const stop = ledger.subscribe((event) => {
    if (event.type !== 'committed') return
    const { head, changes } = event
    // with ownership off, a block may take the place of another one of the same index
    const replaced = ring.items.at(-1)?.head.index === head.index ? ring.pop() : undefined
    ring.push(keptBlock(head, changes, replaced))
  })
  return {
    list({ before = Infinity, last = MAX_LISTED_BLOCKS }) {
      const { index } = ledger.snapshot().head
      const found = ring.items.filter(({ head }) => head.index < before).toReversed()
      return {
        Head: index,
        First: ring.items[0]?.head.index ?? index,
        Blocks: found.slice(0, Math.min(last, MAX_LISTED_BLOCKS)).map(headView),
      }
    },
    text(index) {
      const block = ring.items.find(({ head }) => head.index === index)
      return block && blockText(block)
    },
    stop,
  }
}

/** @param replaced the block that this one takes the place of: what both changed counts from before that one */
function keptBlock(head: BlockHead, made: readonly Change[], replaced: KeptBlock | undefined): KeptBlock {
  const changes = new Map(replaced?.changes)
  const buckets = new Set(replaced?.buckets)
  let { more, bytes } = replaced ?? { more: 0, bytes: BLOCK_BYTES }
  for (const change of made) {
    if (buckets.size < MAX_TOLD_BUCKETS) buckets.add(change.bucket)
    const id = positionId(change)
    const before = changes.get(id)
    const kept = keptChange(change, before === undefined ? change.previous : before.previous)
    changes.delete(id)
    bytes -= before?.bytes ?? 0
    const isFull = changes.size === MAX_CHANGES_PER_BLOCK || bytes + kept.bytes > MAX_KEPT_BLOCK_BYTES
    if (isFull) more++
    else {
      changes.set(id, kept)
      bytes += kept.bytes
    }
  }
  return { head, changes, buckets, more, bytes }
}

function keptChange({ bucket, key, entry }: Change, previous: Entry | undefined): KeptChange {
  const bytes = bucket.length + key.length + entryBytes(entry) + (previous ? entryBytes(previous) : 0)
  return { bucket, key, entry, previous, bytes }
}

/** About what a block takes beside its changes. */
const BLOCK_BYTES = 1_024
/** About what an entry takes beside its value. */
const ENTRY_BYTES = 256

function entryBytes({ value }: Entry): number {
  return value.length + ENTRY_BYTES
}

function headView({ head, changes, buckets, more }: KeptBlock): BlocksView['Blocks'][number] {
  const { index, timestamp, hash, prevHash } = head
  return {
    Index: index,
    Timestamp: timestamp,
    Hash: hash,
    PrevHash: prevHash,
    Changes: changes.size + more,
    Buckets: [...buckets],
  }
}

function blockText(block: KeptBlock): string {
  const head = JSON.stringify(headView(block)).slice(0, -1)
  const changed = [...block.changes.values()].map(changeText).join(',')
  return `${head},"Changed":[${changed}],"More":${block.more}}\n`
}

function changeText({ bucket, key, entry, previous }: KeptChange): string {
  const before = previous === undefined ? 'null' : signedEntryText(previous)
  return `{"Bucket":${JSON.stringify(bucket)},"Key":${JSON.stringify(key)},"Before":${before},"After":${signedEntryText(entry)}}`
}
