/** Schemas of the last blocks that this node made or took, and what each changed. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count } from './fields.ts'
import { signedEntryView } from './ledger.ts'

const blockHead = later(() =>
  z.object({
    Index: count(),
    Timestamp: z.string(),
    Hash: z.string(),
    PrevHash: z.string(),
    Changes: count().meta({ description: 'How many entries the block changed.' }),
    Buckets: z.array(z.string()).meta({ description: 'The buckets that it changed, 8 at most.' }),
  }),
)

export const blocksView = later(() =>
  z
    .object({
      Head: count().meta({ description: 'Index of the last block.' }),
      First: count().meta({
        description: 'Index of the oldest block that this node keeps, in memory since it started.',
      }),
      Blocks: z.array(blockHead()).meta({ description: 'The newest first.' }),
    })
    .meta({ id: 'Blocks' }),
)

export type BlocksView = z.output<ReturnType<typeof blocksView>>

export const keptBlockView = later(() =>
  blockHead()
    .extend({
      Changed: z.array(
        z.object({
          Bucket: z.string(),
          Key: z.string(),
          Before: signedEntryView().nullable().meta({ description: 'null: there was none.' }),
          After: signedEntryView(),
        }),
      ),
      More: count().meta({ description: 'Changes that are not kept, since the block had too many.' }),
    })
    .meta({ id: 'KeptBlock' }),
)

export type KeptBlockView = z.output<ReturnType<typeof keptBlockView>>
