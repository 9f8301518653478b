/** Who sends blocks of which form. Only what stands at a block's two ends is looked at; nothing is trusted to it. */

/**
 * `partial` and `whole` are ours: index 0 and no hash, and a whole ledger for legacy members has a time.
 * `legacy` is any other block as legacy members print it; it has a hash. `unknown` is anything else.
 */
export type BlockForm = 'partial' | 'whole' | 'legacy' | 'unknown'

const START = '{"Index":'
const OURS_START = '{"Index":0,"Timestamp":"'
const PARTIAL_START = '{"Index":0,"Timestamp":"",'
const OURS_END = '"Hash":"","PrevHash":""}'

const ascii = new TextDecoder('latin1')

/** The bytes at either end of a block that its form is told by. */
export const FORM_BYTES = Math.max(PARTIAL_START.length, OURS_END.length)

/**
 * @param first the first bytes of a block as UTF-8, or all of it
 * @param last the last ones
 */
export function blockFormOf(first: Uint8Array, last: Uint8Array = first): BlockForm {
  const start = ascii.decode(first.subarray(0, PARTIAL_START.length))
  const end = ascii.decode(last.subarray(-OURS_END.length))
  if (!start.startsWith(START) || !end.endsWith('"}')) return 'unknown'
  if (end !== OURS_END || !start.startsWith(OURS_START)) return 'legacy'
  return start === PARTIAL_START ? 'partial' : 'whole'
}
