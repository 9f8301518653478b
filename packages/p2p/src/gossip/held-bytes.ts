import { FREE_HELD_BYTES, MAX_STRANGERS_HELD_BYTES } from '../limits.ts'

/** Strangers hold more unfinished frames than this node keeps for them. */
export class TooMuchHeldError extends Error {
  override readonly name = 'TooMuchHeldError'
}

/** Counts what strangers' unfinished frames hold, all together: each may be as long as the network's longest message. */
export function createHeldBytes(isMember: (peer: string) => boolean) {
  let all = 0
  return {
    /** Gives the function that is told what one stream of the peer holds. @throws TooMuchHeldError */
    track(peer: string): (bytes: number) => void {
      let own = 0
      return (bytes) => {
        const counted = bytes > FREE_HELD_BYTES && !isMember(peer) ? bytes : 0
        const grows = counted > own
        all += counted - own
        own = counted
        if (grows && all > MAX_STRANGERS_HELD_BYTES) throw new TooMuchHeldError('strangers hold too much')
      }
    },
  }
}
