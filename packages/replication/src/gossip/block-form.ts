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

/** @param block as UTF-8 */
export function blockFormOf(block: Uint8Array): BlockForm {
  const start = ascii.decode(block.subarray(0, PARTIAL_START.length))
  const end = ascii.decode(block.subarray(-OURS_END.length))
  if (!start.startsWith(START) || !end.endsWith('"}')) return 'unknown'
  if (end !== OURS_END || !start.startsWith(OURS_START)) return 'legacy'
  return start === PARTIAL_START ? 'partial' : 'whole'
}
