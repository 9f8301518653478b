/**
 * Gives back memory that the node no longer needs. 1. After the start: keeps the compiled code for the next start, and
 * collects what only the start needed. 2. Now and then: collects buffers that nobody holds, and has the C library give
 * back what it keeps of freed ones. An idle heap does neither by itself.
 */
import module from 'node:module'
import v8 from 'node:v8'
import type { Clock } from '@mesh/core'

/** How often memory is looked at, in ms. */
const LOOK_INTERVAL_MS = 20_000
/** Growth that is worth a collection, in bytes. */
const SPARE_BYTES = 24 * 2 ** 20
/** How many collections in a row free little before the node takes its growth for memory in use. */
const MAX_VAIN_COLLECTIONS = 6
/** Largest heap that is collected, in bytes, garbage included. A larger one pauses the node for too long. */
const MAX_COLLECTED_BYTES = 160 * 2 ** 20

/**
 * Flags of V8. Set after the start: compiled code is cached for one set of flags.
 *
 * 1. Buffers count together with the heap. Otherwise V8 collects the whole heap for every 64 MB of buffers. A service that
 *    carries bulk then spends a third of its time on that (`npm run bench -- services`).
 * 2. The young generation stays at 1 MB, so that buffers that went out are collected young.
 * 3. The heap doubles before it is collected, and does not grow to four times of what lives.
 */
const FLAGS = ['--semi-space-growth-factor=1', '--heap-growing-percent=100'] as const
/** The flag of 1., and the first version of V8 that knows it. An older one would print an error. */
const BUFFERS_COUNT = { flag: '--external-memory-accounted-in-global-limit', sinceV8: 13 } as const

/** Call it once, when the node has started. */
export function trimAfterStart(): void {
  module.flushCompileCache()
  for (const flag of FLAGS) v8.setFlagsFromString(flag)
  if (Number.parseInt(process.versions.v8, 10) >= BUFFERS_COUNT.sinceV8)
    v8.setFlagsFromString(BUFFERS_COUNT.flag)
  void collectSmallHeap()
}

export interface MemoryTrimComponents {
  readonly clock: Clock
  /** Bytes of this process in memory. */
  readonly residentBytes: () => number
  /** Collects what nobody holds. */
  readonly collect: () => Promise<void>
  /** Gives back what the C library keeps. */
  readonly trim: () => Promise<void>
}

/** Memory of this process. */
export const ownMemory = {
  residentBytes: () => process.memoryUsage.rss(),
  collect: () => collectSmallHeap(),
  async trim() {
    const { trimMemory } = await import('@mesh/engine')
    trimMemory()
  },
} as const

/** Looks again and again; the returned function ends it. */
export function startMemoryTrim({ clock, residentBytes, collect, trim }: MemoryTrimComponents): () => void {
  let inUseBytes = residentBytes()
  let vain = 0
  const look = async () => {
    try {
      const bytes = residentBytes()
      inUseBytes = Math.min(inUseBytes, bytes)
      if (bytes > inUseBytes + SPARE_BYTES) {
        vain++
        await collect()
        await trim()
        if (residentBytes() < bytes - SPARE_BYTES) vain = 0
      }
    } catch {
      // no addon for this platform, or no more files may be open
    }
    // all of it is in use: the next look begins anew
    if (vain === MAX_VAIN_COLLECTIONS) [inUseBytes, vain] = [Number.POSITIVE_INFINITY, 0]
    if (!isStopped) cancel = clock.after(LOOK_INTERVAL_MS, () => void look())
  }
  let isStopped = false
  let cancel = clock.after(LOOK_INTERVAL_MS, () => void look())
  return () => {
    isStopped = true
    cancel()
  }
}

/** Collects the whole heap where that is quick. The inspector is the public way that needs no flag of V8. */
async function collectSmallHeap(): Promise<void> {
  if (v8.getHeapStatistics().used_heap_size > MAX_COLLECTED_BYTES) return
  const { Session } = await import('node:inspector/promises')
  const session = new Session()
  session.connect()
  await session.post('HeapProfiler.collectGarbage')
  session.disconnect()
}
