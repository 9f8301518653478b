/**
 * Gives memory back that a node does not need any more: buffers of JavaScript that nobody holds, which wait for a collection
 * that an idle heap does not make, and what the C library keeps of freed ones. After a flood of large messages that is
 * 100 MB and more, for as long as the process runs.
 */
import type { Clock } from '@mesh/core'
import { collectSmallHeap } from './trim-process.ts'

/** How often memory is looked at, in ms. */
const LOOK_INTERVAL_MS = 20_000
/** How much more than after the last time counts as worth giving back, in bytes. */
const SPARE_BYTES = 24 * 2 ** 20

interface MemoryFigures {
  readonly rss: number
  readonly heapTotal: number
  /** Buffers, of JavaScript and of what it calls. */
  readonly external: number
}

interface MemoryTrimComponents {
  readonly clock: Clock
  readonly read: () => MemoryFigures
  /** Collects buffers that nobody holds. */
  readonly collect: () => void
  /** Gives back what the C library keeps; undefined where that cannot be done. */
  readonly loadTrim: () => Promise<(() => unknown) | undefined>
}

/** Looks again and again; the returned function ends it. */
export function startMemoryTrim(components: MemoryTrimComponents): () => void {
  const trim = new MemoryTrim(components)
  trim.wait()
  return () => trim.stop()
}

/** The least block that is taken from the system by itself, in bytes: streams make blocks of 64 KiB, in great numbers. */
const LEAST_MAPPED_BYTES = 256 * 1024

/** Has large buffers given back when they are freed, where the engine's addon can. */
export async function mapLargeBuffers(): Promise<void> {
  try {
    const { mapBlocksFrom } = await import('@mesh/engine')
    mapBlocksFrom(LEAST_MAPPED_BYTES)
  } catch {
    // no addon for this platform
  }
}

/** This process: its figures, its collector, and the engine's addon. */
export const ownMemory = {
  read: () => process.memoryUsage(),
  collect: () => collectSmallHeap(),
  async loadTrim() {
    try {
      const { trimMemory } = await import('@mesh/engine')
      // once here, so that a missing addon is noticed here
      trimMemory()
      return () => trimMemory()
    } catch {
      // no addon for this platform
      return undefined
    }
  },
} as const

class MemoryTrim {
  readonly #components: MemoryTrimComponents
  /** Bytes of buffers, and of what is neither buffers nor heap, that stayed when some was given back, or the least since. */
  readonly #kept: { external: number; other: number }
  #trim: (() => unknown) | undefined | 'not loaded' = 'not loaded'
  #cancel = () => {}
  #stopped = false

  constructor(components: MemoryTrimComponents) {
    this.#components = components
    // before anybody could make the node work
    const figures = components.read()
    this.#kept = { external: figures.external, other: otherOf(figures) }
  }

  wait(): void {
    if (this.#stopped) return
    this.#cancel = this.#components.clock.after(LOOK_INTERVAL_MS, () => void this.#look())
  }

  stop(): void {
    this.#stopped = true
    this.#cancel()
  }

  async #look(): Promise<void> {
    try {
      await this.#giveBack()
    } catch {
      // its figures stand in a file, and no more may be open
    }
    this.wait()
  }

  async #giveBack(): Promise<void> {
    const { read, collect, loadTrim } = this.#components
    const kept = this.#kept
    if (read().external > kept.external + SPARE_BYTES) {
      collect()
      kept.external = read().external
    }
    if (otherOf(read()) > kept.other + SPARE_BYTES) {
      if (this.#trim === 'not loaded') this.#trim = await loadTrim()
      this.#trim?.()
      kept.other = otherOf(read())
    }
    kept.external = Math.min(kept.external, read().external)
    kept.other = Math.min(kept.other, otherOf(read()))
  }
}

/** The bytes that are neither the heap nor a buffer in use: code, stacks, and what the C library keeps. */
function otherOf({ rss, heapTotal, external }: MemoryFigures): number {
  return rss - heapTotal - external
}
