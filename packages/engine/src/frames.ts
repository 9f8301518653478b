import { FRAME_PREFIX_BYTES } from './limits.ts'

/** The frames of a batch from `take`, as views of it: for a legacy member one packet each. */
export function* framesOf(batch: Uint8Array): Generator<Uint8Array, void> {
  let at = 0
  while (at + FRAME_PREFIX_BYTES <= batch.length) {
    const length = ((batch[at] ?? 0) << 8) | (batch[at + 1] ?? 0)
    at += FRAME_PREFIX_BYTES + length
    if (at > batch.length) return
    yield batch.subarray(at - length, at)
  }
}
