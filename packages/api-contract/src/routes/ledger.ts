/** The ledger: blocks, values, writes and deletions. */
import * as z from 'zod'
import { later } from '../later.ts'
import { bucketName, entryKey, keepDuration, pathValue, timeField, wholeNumber } from '../names.ts'
import { pageOfEntries, pageOfKeys } from '../paging.ts'
import { routesOf } from '../route.ts'
import { blockView, bucketView, digestView, ledgerView, signedEntryView } from '../views/ledger.ts'
import { blocksView, keptBlockView } from '../views/kept-blocks.ts'
import { bucketDeleteView, keptWriteView, writeView } from '../views/write.ts'
import { json, list } from './answers.ts'
import { putErrors, wait, writeErrors } from './ledger-writes.ts'

const inBucket = z.object({ bucket: bucketName })
const atKey = z.object({ bucket: bucketName, key: entryKey })
const values = z.object({
  values: z
    .enum(['json', 'text'])
    .optional()
    .meta({ description: 'text: the signed texts instead of the decoded values.' }),
})

const route = routesOf('ledger')

export const ledgerRoutes = {
  getBlock: route('GET /api/blockchain', {
    summary: 'The last block with every signed entry, tombstones included',
    query: z.object(pageOfEntries),
    answer: json(blockView, 'The last block; of its entries a page, where one was asked for.'),
    errors: [],
  }),
  getSignedEntry: route('GET /api/blockchain/:bucket/:key', {
    summary: 'One signed entry, a tombstone too',
    params: atKey,
    answer: json(signedEntryView, 'The entry as it is signed and replicated.'),
    errors: ['ledger.not_found'],
  }),
  listBlocks: route('GET /api/blocks', {
    summary: 'The last blocks that this node keeps, the newest first',
    query: z.object({
      before: wholeNumber.optional().meta({ description: 'Begin below this index.', example: 812 }),
      last: wholeNumber.optional().meta({ description: 'So many at most, and 100 at most.', example: 20 }),
    }),
    answer: json(blocksView, 'Blocks without what they changed.'),
    errors: [],
  }),
  getKeptBlock: route('GET /api/blocks/:index', {
    summary: 'One of the last blocks, with what it changed',
    params: z.object({ index: wholeNumber.meta({ example: 812 }) }),
    answer: json(
      keptBlockView,
      'Each change with the entry before and after. An entry that this node removed by itself has no signature.',
    ),
    errors: ['ledger.no_block'],
  }),
  getDigest: route('GET /api/digest', {
    summary: 'Equal on two nodes exactly when they hold the same live entries (without healthcheck)',
    answer: json(digestView, 'The digest of the ledger.'),
    errors: [],
  }),
  getLedger: route('GET /api/ledger', {
    summary: 'The values of all live entries by bucket and key',
    query: values.extend(pageOfEntries),
    answer: json(ledgerView, 'Values by bucket and key.'),
    errors: [],
  }),
  getBucket: route('GET /api/ledger/:bucket', {
    summary: 'The values of one bucket; empty when nobody has written it',
    params: inBucket,
    query: values.extend(pageOfKeys),
    answer: json(bucketView, 'Values by key.'),
    errors: [],
  }),
  getEntry: route('GET /api/ledger/:bucket/:key', {
    summary: 'The value of one live entry',
    params: atKey,
    query: values,
    answer: json(later(z.unknown), 'The decoded value.'),
    errors: ['ledger.not_found'],
  }),
  putText: route('PUT /api/ledger/:bucket/:key/*value', {
    summary: 'Write a string; the value is the rest of the path, 48 KiB at most as it is sent',
    params: atKey.extend({ value: pathValue }),
    query: wait,
    answer: json(writeView, 'What became of the write.'),
    errors: putErrors,
  }),
  putJson: route('PUT /api/ledger/:bucket/:key', {
    summary: 'Write any JSON value; with `keep` the node renews it while it runs',
    params: atKey,
    query: wait.extend({ keep: keepDuration.optional(), field: timeField.optional() }),
    body: z.unknown(),
    answer: json(writeView, 'What became of the write.'),
    errors: [...putErrors, 'ledger.too_many_kept'],
  }),
  listKeptWrites: route('GET /api/node/kept-writes', {
    summary: 'The writes that this node renews while it runs',
    answer: list(keptWriteView, 'In the order in which they were asked for.'),
    errors: [],
  }),
  deleteEntry: route('DELETE /api/ledger/:bucket/:key', {
    summary: 'Delete one key',
    params: atKey,
    query: wait,
    answer: json(writeView, 'What became of the write.'),
    errors: writeErrors,
  }),
  deleteBucket: route('DELETE /api/ledger/:bucket', {
    summary: 'Delete what this node may delete of a bucket',
    params: inBucket,
    query: wait,
    answer: json(bucketDeleteView, 'What became of the write, and what stays.'),
    errors: writeErrors,
  }),
} as const
