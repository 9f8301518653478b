/**
 * Has V8 save memory while its heap is much larger than it was. Whoever makes a node work makes it make objects; V8 keeps
 * the pages of those that it freed for the next ones, and with a flood of frames of one byte each 50 MB of free pages lay beside
 * 60 MB of objects. While it saves memory these go back to the system, but each batch of buffers costs a collection of
 * the whole heap, which halves what a service carries (`npm run bench -- services`): so it does only then. Buffers lie
 * outside of the heap, and what bulk makes of objects is gone at once.
 */
import v8 from 'node:v8'
import type { Clock } from '@mesh/core'

/** How often the heap is looked at, in ms. */
const LOOK_INTERVAL_MS = 250
/** How much larger than it was a heap is that saves memory, in bytes, and how much larger one that does so no more. */
const [GROWN_BYTES, SHRUNK_BYTES] = [16 * 2 ** 20, 8 * 2 ** 20]
/** How long it does so, in ms: what is there then is in use. */
const MAX_SAVING_MS = 15_000

interface HeapSavingComponents {
  readonly clock: Clock
  /** The bytes of the heap's pages that are in use. */
  readonly heapBytes: () => number
  readonly save: (isOn: boolean) => void
}

/** The heap of this process, by the flags of V8. */
export const ownHeap = {
  heapBytes: () => v8.getHeapStatistics().total_heap_size,
  save: (isOn: boolean) => v8.setFlagsFromString(isOn ? '--memory-saver-mode' : '--no-memory-saver-mode'),
} as const

/** Looks again and again; the returned function ends it. */
export function saveHeapWhileLarge({ clock, heapBytes, save }: HeapSavingComponents): () => void {
  let usualBytes = heapBytes()
  let savingSinceMs: number | undefined
  const stopSaving = () => {
    if (savingSinceMs !== undefined) save(false)
    savingSinceMs = undefined
  }
  const look = () => {
    const bytes = heapBytes()
    const now = clock.monotonic()
    if (savingSinceMs === undefined && bytes > usualBytes + GROWN_BYTES) {
      savingSinceMs = now
      save(true)
    } else if (savingSinceMs !== undefined && now - savingSinceMs >= MAX_SAVING_MS) {
      usualBytes = bytes
      stopSaving()
    } else if (bytes < usualBytes + SHRUNK_BYTES) stopSaving()
    usualBytes = Math.min(usualBytes, bytes)
    cancel = clock.after(LOOK_INTERVAL_MS, look)
  }
  let cancel = clock.after(LOOK_INTERVAL_MS, look)
  return () => {
    cancel()
    stopSaving()
  }
}
