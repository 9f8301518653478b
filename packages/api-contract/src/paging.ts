/** How reads without a natural bound are asked for page by page. */
import * as z from 'zod'
import { MAX_PAGE_ENTRIES } from './limits.ts'
import { heldBucket, heldKey, lookupName } from './names.ts'

/** A whole number above 0; a greater one than a page may have is cut to that. */
const limit = z
  .string()
  .transform((text, context) => {
    if (/^[1-9]\d{0,8}$/.test(text)) return Math.min(Number(text), MAX_PAGE_ENTRIES)
    context.addIssue({ code: 'custom', message: 'a whole number above 0' })
    return z.NEVER
  })
  .optional()
  .meta({
    type: 'integer',
    minimum: 1,
    description: `A page of at most so many entries (at most ${MAX_PAGE_ENTRIES}) and about 1 MiB. The header Link with rel="next" leads to the following page and is missing on the last one.`,
    example: 100,
  })

/** An entry's place in the whole ledger. */
export interface EntryPlace {
  readonly bucket: string
  readonly key: string
}

/** Bucket and key as they stand in the path of the entry: each percent-encoded, with a slash between. */
const entryPath = z
  .string()
  .transform((text, context) => {
    const place = parseEntryPath(text)
    if (place !== undefined) return place
    context.addIssue({ code: 'custom', message: 'BUCKET/KEY, each percent-encoded' })
    return z.NEVER
  })
  .optional()
  .meta({
    type: 'string',
    description: 'Begin after this entry: BUCKET/KEY, each percent-encoded as in the path of the entry.',
    example: 'services/web',
  })

function parseEntryPath(text: string): EntryPlace | undefined {
  const [first = '', second, ...more] = text.split('/')
  if (second === undefined || more.length > 0) return undefined
  try {
    const bucket = heldBucket.safeParse(decodeURIComponent(first)).data
    const key = heldKey.safeParse(decodeURIComponent(second)).data
    return bucket === undefined || key === undefined ? undefined : { bucket, key }
  } catch {
    return undefined
  }
}

/** The text by which a page of the whole ledger is said to begin after an entry. */
export function entryPathOf({ bucket, key }: EntryPlace): string {
  return `${encodeURIComponent(bucket)}/${encodeURIComponent(key)}`
}

/** The query of a read over one bucket. */
export const pageOfKeys = {
  after: heldKey.optional().meta({ description: 'Begin after this key.', example: 'web' }),
  limit,
}
/** The query of a read over all buckets. */
export const pageOfEntries = { after: entryPath, limit }
/** The query of a list of peers or machines. */
export const pageOfPeers = {
  after: lookupName
    .optional()
    .meta({ description: 'Begin after this peer id; pages are in the order of peer ids.' }),
  limit,
}
