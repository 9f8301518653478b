/** Tries something for the doctor, within its time. */
import { type Clock, toError, untilAborted, withDeadline } from '@mesh/core'

/** The outcome of something that was tried. */
export type Tried = { readonly works: true } | { readonly works: false; readonly reason: string }

/** How long one look may take, in ms. */
export const LOOK_MS = 3_000

/** Never rejects: what was thrown becomes the reason. */
export async function tried(look: () => Promise<unknown>, clock: Clock): Promise<Tried> {
  try {
    const reason = () => new Error(`nothing came of it within ${LOOK_MS} ms`)
    await withDeadline({ clock, ms: LOOK_MS, reason }, (signal) => untilAborted(look(), signal))
    return { works: true }
  } catch (error) {
    return { works: false, reason: toError(error).message }
  }
}
