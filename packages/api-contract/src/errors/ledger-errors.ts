/** Lists what the ledger refuses. */
import type { ErrorDescription } from './error-description.ts'

export const ledgerErrors = {
  'ledger.not_found': {
    status: 404,
    title: 'There is no such entry',
    hint: 'GET the bucket to see its keys; it may have been deleted or have expired.',
    commandHint:
      '`mesh ledger list BUCKET` shows the keys there are; it may have been deleted or have expired.',
  },
  'ledger.no_block': {
    status: 404,
    title: 'This node keeps no such block',
    hint: 'GET /api/blocks lists those that it keeps: the last ones since it started.',
    commandHint: 'A node keeps the last blocks since it started.',
  },
  'ledger.bad_value': {
    status: 400,
    title: 'This bucket does not take such a value',
    hint: 'Issues or the message says what the bucket expects.',
    commandHint: 'The message says what the bucket expects.',
  },
  'ledger.too_large': {
    status: 400,
    title: 'The entry is too large',
    hint: 'A bucket name may have 256 bytes, a key 1 KiB, a value 64 KiB of JSON text.',
  },
  'ledger.not_owner': {
    status: 409,
    title: 'Another member owns this key',
    hint: 'Use another key, or wait until the lease of its owner ends.',
  },
  'ledger.written_by_node': {
    status: 409,
    title: 'The node writes this entry itself',
    hint: 'A node says by itself that it is alive for as long as it runs: to end what it owns, stop it.',
  },
  'ledger.over_quota': {
    status: 409,
    title: 'The ledger has no room for this entry',
    hint: 'Delete entries that are not needed any more.',
  },
  'ledger.too_many_kept': {
    status: 409,
    title: 'The node renews 256 writes already',
    hint: 'Delete a key that it renews: GET /api/node/kept-writes lists them.',
    commandHint: '`mesh ledger delete BUCKET KEY` ends the renewal of a key.',
  },
  'ledger.store_failed': {
    status: 503,
    title: 'The node cannot keep its ledger on disk',
    hint: 'Free space on the disk of the state directory, or see the log of the node.',
  },
  'ledger.stopped': {
    status: 503,
    title: 'The node is stopping',
    hint: 'Ask again when the node runs.',
  },
} as const satisfies Readonly<Record<string, ErrorDescription>>
