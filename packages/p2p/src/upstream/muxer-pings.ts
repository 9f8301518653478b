/**
 * How often the pings of the muxer are answered. @libp2p/yamux 8.0.3 answers each of them, in a message of its own that is
 * sealed and written by itself: what comes in one block of 64 KiB takes a node a sixth of a second. Others ping every 30 s,
 * and our own nodes a little more.
 *
 * Reaches into yamux's `handlePing`; where it is missing nothing is bounded. Without it `muxer-pings.test.ts` fails;
 * `npm run attack -- muxer-pings` sends such pings.
 */
import type { Clock } from '@mesh/core'
import { createTokenBucket } from '@mesh/core/limits'
import { PINGS_BURST, PINGS_PER_S } from '../limits.ts'
import { MAX_REFUSED_PINGS } from './limits.ts'

/** The flag of a ping that asks; the answer to one has another. */
const ASKS = 1

interface PingHeader {
  readonly flag: number
}

/** Leaves pings that come too fast without an answer, and ends the connection of who goes on. */
export function boundMuxerPings(muxer: object, clock: Clock): void {
  const pinged = muxer as { handlePing?: (header: PingHeader) => void }
  const handlePing = pinged.handlePing?.bind(muxer)
  if (handlePing === undefined) return
  const allowance = createTokenBucket({ perSecond: PINGS_PER_S, burst: PINGS_BURST }, clock)
  let refused = 0
  pinged.handlePing = (header) => {
    if (header.flag !== ASKS || allowance.take()) return handlePing(header)
    // the library ends the connection where a frame cannot be handled
    if (++refused > MAX_REFUSED_PINGS) throw new Error('too many pings')
  }
}
