/** Schemas of what became of a write. */
import * as z from 'zod'
import { later } from '../later.ts'
import { count } from './fields.ts'

export const writeView = later(() =>
  z
    .object({
      State: z.enum(['Announcing', 'Committed', 'Superseded']),
      Block: count().optional().meta({ description: 'With Committed: the block that holds the write.' }),
      Absent: z
        .literal(true)
        .optional()
        .meta({ description: 'With Committed, of a deletion: nothing was there to delete.' }),
    })
    .meta({ id: 'WriteState' }),
)

export type WriteView = z.output<ReturnType<typeof writeView>>

export const keptWriteView = later(() =>
  z
    .object({
      Bucket: z.string(),
      Key: z.string(),
      EverySeconds: z.number().positive().meta({ description: 'The time between two renewals.' }),
      TimeField: z
        .string()
        .nullable()
        .meta({ description: 'The field of the value that says when it was renewed; null: none.' }),
    })
    .meta({ id: 'KeptWrite' }),
)

export type KeptWriteView = z.output<ReturnType<typeof keptWriteView>>

export const bucketDeleteView = later(() =>
  writeView()
    .extend({
      Refused: z
        .array(z.object({ Key: z.string(), Owner: z.string() }))
        .optional()
        .meta({ description: 'Keys that stay, with who owns them.' }),
    })
    .meta({ id: 'BucketDeleteState' }),
)

export type BucketDeleteView = z.output<ReturnType<typeof bucketDeleteView>>
