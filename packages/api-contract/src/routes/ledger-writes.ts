/**
 * The parts that routes which write into the ledger share: how long they wait, and what they may answer with.
 */
import * as z from 'zod'
import { waitDuration } from '../names.ts'

export const wait = z.object({ wait: waitDuration.optional() })

export const writeErrors = [
  'ledger.bad_value',
  'ledger.too_large',
  'ledger.not_owner',
  'ledger.written_by_node',
  'ledger.over_quota',
  'ledger.store_failed',
  'ledger.stopped',
] as const

export const putErrors = [...writeErrors, 'dns.bad_record'] as const
