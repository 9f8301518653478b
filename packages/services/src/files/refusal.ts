import { type MeshError, printable } from '@mesh/core'
import { filesError } from './errors.ts'
import { REFUSAL } from './file-message.ts'
import { MAX_REASON_CHARS } from './limits.ts'

/** Refusals that time, or another provider, can cure. */
const PASSING: ReadonlySet<number> = new Set([REFUSAL.unknownName, REFUSAL.busy, REFUSAL.notAnnounced])

/** Says what a sender's refusal means here; its reason is another member's text. */
export function refusalError(code: number, reason: string): MeshError {
  const text = reason === '' ? `refusal ${code}` : printable(reason.slice(0, MAX_REASON_CHARS))
  const kind = PASSING.has(code) ? 'files.unknown_name' : 'files.refused'
  return filesError(kind, `the sender refused: ${text}`)
}
