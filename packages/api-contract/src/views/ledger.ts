/** Schemas of what the ledger holds. */
import * as z from 'zod'
import { jsonMap } from '../json-map.ts'
import { later } from '../later.ts'
import { count, uint64 } from './fields.ts'

export const signedEntryView = later(() =>
  z
    .object({
      Value: z.string().meta({ description: 'JSON text exactly as signed.' }),
      Owner: z.string(),
      Version: uint64(),
      UpdatedAt: z.number().int().meta({ description: 'Unix time in seconds.' }),
      Deleted: z.boolean(),
      Sig: z.string().nullable().meta({ description: 'Ed25519 signature, base64.' }),
    })
    .meta({ id: 'SignedEntry' }),
)

export type SignedEntryView = z.output<ReturnType<typeof signedEntryView>>

const signedEntryReference = { $ref: '#/components/schemas/SignedEntry' }

export const blockView = later(() =>
  z
    .object({
      Index: count(),
      Timestamp: z.string(),
      Storage: jsonMap(jsonMap(signedEntryView())).meta({
        type: 'object',
        additionalProperties: { type: 'object', additionalProperties: signedEntryReference },
      }),
      Hash: z.string(),
      PrevHash: z.string(),
    })
    .meta({ id: 'Block' }),
)

export type BlockView = z.output<ReturnType<typeof blockView>>

/** Decoded values by key; with `?values=text` the signed texts. */
export const bucketView = later(() => jsonMap(z.unknown()))

export type BucketView = z.output<ReturnType<typeof bucketView>>

export const ledgerView = later(() =>
  jsonMap(bucketView()).meta({
    type: 'object',
    additionalProperties: { type: 'object', additionalProperties: {} },
  }),
)

export type LedgerView = z.output<ReturnType<typeof ledgerView>>

export const digestView = later(() =>
  z
    .object({
      Entries: count(),
      Digest: z.string(),
      Buckets: jsonMap(z.string()).meta({ type: 'object', additionalProperties: { type: 'string' } }),
    })
    .meta({ id: 'Digest' }),
)

export type DigestView = z.output<ReturnType<typeof digestView>>
