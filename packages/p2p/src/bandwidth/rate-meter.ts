/** Bytes in and out with their rate over the last ten seconds, in constant memory: ten buckets of one second. */
import type { BandwidthStats } from '../p2p-node.ts'

const BUCKETS = 10
const BUCKET_MS = 1_000

export interface RateMeter {
  /** @param now unix ms */
  add(now: number, bytesIn: number, bytesOut: number): void
  read(now: number): BandwidthStats
}

export function createRateMeter(): RateMeter {
  let totalIn = 0
  let totalOut = 0
  const ins = new Float64Array(BUCKETS)
  const outs = new Float64Array(BUCKETS)
  let newest = 0

  /** Clears the buckets of the seconds that passed since the last call. */
  function moveTo(now: number): number {
    const second = Math.floor(now / BUCKET_MS)
    const passed = Math.min(BUCKETS, Math.max(0, second - newest))
    for (let back = 0; back < passed; back++) {
      ins[(second - back) % BUCKETS] = 0
      outs[(second - back) % BUCKETS] = 0
    }
    newest = Math.max(newest, second)
    return newest % BUCKETS
  }

  return {
    add(now, bytesIn, bytesOut) {
      const at = moveTo(now)
      ins[at] = (ins[at] ?? 0) + bytesIn
      outs[at] = (outs[at] ?? 0) + bytesOut
      totalIn += bytesIn
      totalOut += bytesOut
    },
    read(now) {
      moveTo(now)
      const seconds = (BUCKETS * BUCKET_MS) / 1_000
      return { totalIn, totalOut, rateIn: sum(ins) / seconds, rateOut: sum(outs) / seconds }
    },
  }
}

function sum(values: Float64Array): number {
  let total = 0
  for (const value of values) total += value
  return total
}
