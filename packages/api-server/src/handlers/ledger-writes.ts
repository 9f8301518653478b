import { type BucketDeleteView, MAX_VALUE_BYTES, type WriteView } from '@mesh/api-contract'
import { BUCKETS, type Clock, type MeshError } from '@mesh/core'
import type { Ledger, LedgerErrorCode, Write } from '@mesh/ledger'
import { issue, Problem } from '../messages/problem.ts'
import { checkNodeValue, checkNotHeartbeat } from '../views/node-value.ts'
import type { HandlersOf } from './handler.ts'
import { type KeptWrites, timedValue } from './kept-writes.ts'

type WriteIds = 'createDns' | 'putText' | 'putJson' | 'deleteEntry' | 'deleteBucket' | 'listKeptWrites'

/** Called with a write that was queued and then refused. */
export type OnRefused = (position: Position, error: MeshError<LedgerErrorCode>) => void

type Position = { readonly bucket: string; readonly key: string }

export interface LedgerWritesComponents {
  readonly ledger: Ledger
  readonly kept: KeptWrites
  readonly clock: Clock
  readonly onRefused: OnRefused
}

/** Says how long the answer waits, and whether the node renews the write. */
interface WriteOptions {
  readonly wait?: number | undefined
  readonly keep?: number | undefined
  readonly timeField?: string | undefined
}

/** Writes are refused at once by the ledger's rules, or queued; with `wait` the answer is what became of them. */
export function createLedgerWrites(components: LedgerWritesComponents): HandlersOf<WriteIds> {
  const { ledger, kept, clock, onRefused } = components
  const follow = (write: Write, position: Position, wait: number | undefined) => {
    // whoever does not wait learns of it from the events
    void write.settled.then((outcome) => {
      if (outcome.state === 'refused') onRefused(position, outcome.error)
    })
    return answerWrite(write, wait, clock)
  }
  const put = (bucket: string, key: string, text: string, { wait, keep, timeField }: WriteOptions) => {
    if (keep !== undefined) kept.checkRoom({ bucket, key })
    const valueText = timedValue({ valueText: text, timeField }, clock.now())
    const size = Buffer.byteLength(valueText)
    if (size > MAX_VALUE_BYTES) {
      throw new Problem(
        'ledger.too_large',
        `a value may have ${MAX_VALUE_BYTES} bytes of JSON, this has ${size}`,
        {
          issues: [issue('value', `${size} bytes`, `at most ${MAX_VALUE_BYTES} bytes`)],
        },
      )
    }
    const write = ledger.put(bucket, key, valueText)
    if (keep === undefined) kept.forget({ bucket, key })
    else kept.keep({ bucket, key, valueText: text, everyMs: keep, timeField })
    return follow(write, { bucket, key }, wait)
  }
  const checkNode = (bucket: string, key: string, value: unknown) =>
    checkNodeValue({ bucket, key, value, self: ledger.self, now: clock.now() })
  const putDns = async (pattern: string, records: unknown, options: WriteOptions) => {
    // only a network that names things needs the matcher of patterns, which is large
    const { encodeDnsValue } = await import('../views/dns-value.ts')
    return put(BUCKETS.dns, pattern, encodeDnsValue(pattern, records), options)
  }
  return {
    createDns: ({ body: { Regex, Records }, wait }) => putDns(Regex, Records, { wait }),
    listKeptWrites: () => kept.list(),
    putText({ bucket, key, value, wait }) {
      if (bucket === BUCKETS.dns) return putDns(key, value, { wait })
      checkNode(bucket, key, value)
      return put(bucket, key, JSON.stringify(value), { wait })
    },
    putJson({ bucket, key, body, field, ...options }, { bodyText }) {
      const all = { ...options, timeField: field }
      if (bucket === BUCKETS.dns) return putDns(key, body, all)
      checkNode(bucket, key, body)
      // as sent: a value is text, and signing it again must never change a digit
      return put(bucket, key, bodyText, all)
    },
    async deleteEntry({ bucket, key, wait }) {
      checkNotHeartbeat({ bucket, key, self: ledger.self })
      const before = ledger.snapshot().get(bucket, key)
      kept.forget({ bucket, key })
      const state = await follow(ledger.delete(bucket, key), { bucket, key }, wait)
      // a write that was held until this node knew what others hold may have found something after all
      const changed = ledger.snapshot().get(bucket, key) !== before
      return (before === undefined || before.deleted) && !changed ? absent(state) : state
    },
    async deleteBucket({ bucket, wait }): Promise<BucketDeleteView> {
      const { self } = ledger
      const isHeartbeat = (key: string) => bucket === BUCKETS.healthcheck && key === self
      kept.forgetBucket(bucket)
      const deletion = ledger.deleteBucket(bucket, isHeartbeat)
      const refused = deletion.refused.map(({ key, owner }) => ({ Key: key, Owner: owner }))
      const nothing = deletion.deleting === 0
      if (nothing && refused.some(({ Key }) => isHeartbeat(Key))) {
        checkNotHeartbeat({ bucket, key: self, self })
      }
      const state = await follow(deletion, { bucket, key: '' }, wait)
      if (refused.length > 0) return { ...state, Refused: refused }
      return nothing ? absent(state) : state
    },
  }
}

/** Whoever waited for a deletion is told that there was nothing to delete. */
function absent(state: WriteView): WriteView {
  return state.State === 'Committed' ? { ...state, Absent: true } : state
}

/** @throws the ledger's error when the write was refused meanwhile */
async function answerWrite({ settled }: Write, waitMs: number | undefined, clock: Clock): Promise<WriteView> {
  if (waitMs === undefined || waitMs === 0) return { State: 'Announcing' }
  let cancel = () => {}
  const overdue = new Promise<undefined>((resolve) => {
    cancel = clock.after(waitMs, () => resolve(undefined))
  })
  const outcome = await Promise.race([settled, overdue])
  cancel()
  switch (outcome?.state) {
    case undefined:
      return { State: 'Announcing' }
    case 'committed':
      return { State: 'Committed', Block: outcome.block }
    case 'superseded':
      return { State: 'Superseded' }
    case 'refused':
      throw outcome.error
  }
}
