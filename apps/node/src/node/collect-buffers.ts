/**
 * Has V8 collect the old generation more often while many buffers are there. What waits for slow readers grows old before it
 * goes out: where the heap may grow by half of what lives, a service that brought much kept up to 110 MB of buffers that were
 * gone (`npm run attack -- member-interruptions`). To collect that often always takes a quarter of what files and services
 * carry (`npm run bench -- files`).
 */
import v8 from 'node:v8'
import type { Clock } from '@mesh/core'
import { setHeapGrowth, USUAL_HEAP_GROWTH } from './trim-process.ts'

/** How often buffers are looked at, in ms, while there are few and else: a node that waits is not to be woken often. */
const [CALM_INTERVAL_MS, LOOK_INTERVAL_MS] = [250, 50]
/** The growth of the heap until it is collected while there are many buffers, in per cent of what lives. */
const HEAP_GROWTH_WITH_BUFFERS = 20
/** How many bytes of buffers are many, and how many are few again. */
const [MANY_BYTES, FEW_BYTES] = [48 * 2 ** 20, 24 * 2 ** 20]

interface BufferComponents {
  readonly clock: Clock
  /** The bytes of buffers that are there, those included that nobody holds. */
  readonly bufferBytes: () => number
  readonly collectOften: (isOn: boolean) => void
}

/** The buffers of this process, and its collector. */
export const ownBuffers = {
  bufferBytes: () => v8.getHeapStatistics().external_memory,
  collectOften: (isOn: boolean) => setHeapGrowth(isOn ? HEAP_GROWTH_WITH_BUFFERS : USUAL_HEAP_GROWTH),
} as const

/** Looks again and again; the returned function ends it. */
export function collectBuffersWhileMany({ clock, bufferBytes, collectOften }: BufferComponents): () => void {
  let isOften = false
  const set = (isOn: boolean) => {
    if (isOften !== isOn) collectOften(isOn)
    isOften = isOn
  }
  const look = () => {
    const bytes = bufferBytes()
    set(bytes > (isOften ? FEW_BYTES : MANY_BYTES))
    cancel = clock.after(bytes > FEW_BYTES ? LOOK_INTERVAL_MS : CALM_INTERVAL_MS, look)
  }
  let cancel = clock.after(CALM_INTERVAL_MS, look)
  return () => {
    cancel()
    set(false)
  }
}
