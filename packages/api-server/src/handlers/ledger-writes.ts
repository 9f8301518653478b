import { type BucketDeleteView, MAX_VALUE_BYTES, type WriteView } from '@mesh/api-contract'
import type { Clock, MeshError } from '@mesh/core'
import type { Ledger, LedgerErrorCode, Write } from '@mesh/ledger'
import { issue, Problem } from '../http/problem.ts'
import type { HandlersOf } from './handler.ts'

type WriteIds = 'createDns' | 'putText' | 'putJson' | 'deleteEntry' | 'deleteBucket'

/** Told of a write that was queued and then refused. */
export type OnRefused = (position: Position, error: MeshError<LedgerErrorCode>) => void

type Position = { readonly bucket: string; readonly key: string }

/** Writes are refused at once by the ledger's rules, or queued; with `wait` the answer is what became of them. */
export function createLedgerWrites(ledger: Ledger, clock: Clock, onRefused: OnRefused): HandlersOf<WriteIds> {
  const settle = (write: Write, position: Position, wait: number | undefined) => {
    // whoever does not wait learns of it from the events
    void write.settled.then((outcome) => {
      if (outcome.state === 'refused') onRefused(position, outcome.error)
    })
    return answerWrite(write, wait, clock)
  }
  const put = (bucket: string, key: string, valueText: string, wait: number | undefined) => {
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
    return settle(ledger.put(bucket, key, valueText), { bucket, key }, wait)
  }
  const putDns = async (pattern: string, records: unknown, wait: number | undefined) => {
    // only a network that names things needs the matcher of patterns, which is large
    const { encodeDnsValue } = await import('../views/dns-value.ts')
    return put('dns', pattern, encodeDnsValue(pattern, records), wait)
  }
  return {
    createDns: ({ body: { Regex, Records }, wait }) => putDns(Regex, Records, wait),
    putText({ bucket, key, value, wait }) {
      if (bucket === 'dns') return putDns(key, value, wait)
      return put(bucket, key, JSON.stringify(value), wait)
    },
    putJson({ bucket, key, body, wait }, { bodyText }) {
      if (bucket === 'dns') return putDns(key, body, wait)
      // as sent: a value is text, and signing it again must never change a digit
      return put(bucket, key, bodyText, wait)
    },
    deleteEntry: ({ bucket, key, wait }) => settle(ledger.delete(bucket, key), { bucket, key }, wait),
    async deleteBucket({ bucket, wait }): Promise<BucketDeleteView> {
      const deletion = ledger.deleteBucket(bucket)
      const refused = deletion.refused.map(({ key, owner }) => ({ Key: key, Owner: owner }))
      const state = await settle(deletion, { bucket, key: '' }, wait)
      return refused.length === 0 ? state : { ...state, Refused: refused }
    },
  }
}

/** @throws the ledger's error when the write was refused meanwhile */
async function answerWrite({ settled }: Write, waitMs: number | undefined, clock: Clock): Promise<WriteView> {
  if (waitMs === undefined) return { State: 'Announcing' }
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
