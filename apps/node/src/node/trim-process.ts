/**
 * Trims the process of a node that stands: 1 keeps the compiled code for the next start, which must not wait for an
 * orderly end; 2 gives back the memory that only the start needed, and later what only the arrival of peers needed.
 */
import module from 'node:module'
import v8 from 'node:v8'
import vm from 'node:vm'
import type { Clock } from '@mesh/core'
import type { P2pNode } from '@mesh/p2p'

/**
 * Keeps the young generation at 1 MB, which saves 10 MB of memory in a node that mostly waits. It is set after the start
 * and not before: caches of compiled code hold for one set of flags, so whatever is compiled later is compiled from its
 * source, Node's own modules too.
 */
const SMALL_YOUNG_GENERATION = '--semi-space-growth-factor=1'
/**
 * Counts buffers together with the heap. Streams make some 64 MB of buffers a second at 0.5 Gbit/s, and V8 otherwise
 * collects the whole heap for every 64 MB of them, which is half of the processor time of a service that carries bulk.
 * `npm run bench -- services` shows it. How far buffers may grow between two collections stays as V8 has it: four times
 * as far a flood of frames grew the process by 230 MB of buffers that nobody held any more.
 */
const BUFFERS_WITH_THE_HEAP = '--external-memory-accounted-in-global-limit'

/**
 * The growth of the old generation until it is collected, in per cent of what lives. V8 lets it grow to four times of
 * that while much is allocated, so that whoever makes a node work made it grow by 200 MB of objects that nobody held
 * (`npm run attack -- turns-of-ranges`).
 */
export const USUAL_HEAP_GROWTH = 50

const FLAGS = [SMALL_YOUNG_GENERATION, BUFFERS_WITH_THE_HEAP]

/** How many bytes come in between two collections of young buffers: a tenth of the processor's time at most. */
const COLLECT_EACH_BYTES = 4 * 2 ** 20

/** How long no peer has connected before the heap is collected, in ms. */
const CALM_MS = 10_000
/**
 * The largest heap that is collected, in bytes: a larger one takes longer than a node may pause. One of nearly 64 MB, of a node with
 * 2,400 readers, took 220 ms at 2.4 GHz (`npm run attack -- many-readers`).
 */
const MAX_COLLECTED_BYTES = 40 * 2 ** 20

/**
 * The same when a node has started, which holds its code and its ledger: one that starts from its source has 50 MB, and one with tens of
 * thousands of entries 150, which took 0.3 s.
 */
const MAX_STARTED_BYTES = 64 * 2 ** 20

/** Writes the cache of compiled code and shrinks the heap; to be called once, when the node stands. */
export function trimAfterStart(): void {
  module.flushCompileCache()
  for (const flag of FLAGS) v8.setFlagsFromString(flag)
  setHeapGrowth(USUAL_HEAP_GROWTH)
  collectSmallHeap(MAX_STARTED_BYTES)
}

/** Lets the old generation grow by so much of what lives from its next collection on. */
export function setHeapGrowth(percent: number): void {
  v8.setFlagsFromString(`--heap-growing-percent=${percent}`)
}

/** Collects the whole heap and shrinks the young generation, which no other kind of collection does. Takes 30 ms. */
function collectGarbage(): void {
  collector()({ type: 'major', flavor: 'last-resort' })
}

/** Collects what was made lately. Takes 1 ms with a young generation of 1 MB. */
function collectYoung(): void {
  collector()({ type: 'minor' })
}

type Collect = (options: { type: 'major' | 'minor'; flavor?: 'last-resort' }) => void

let made: Collect | undefined

function collector(): Collect {
  if (made === undefined) {
    v8.setFlagsFromString('--expose-gc')
    made = vm.runInNewContext('gc') as Collect
  }
  return made
}

/**
 * Collects young buffers for each so many bytes that came. The engine collects by what lies on its heap, where a buffer of
 * 64 KiB is a few words: it would let 100 MB and more of them wait, and whoever sends much would make the process grow by
 * that.
 * @returns what is to be told how many bytes came
 */
export function collectByTraffic(collect = collectYoung): (bytes: number) => void {
  let left = COLLECT_EACH_BYTES
  return (bytes) => {
    left -= bytes
    if (left > 0) return
    left = COLLECT_EACH_BYTES
    collect()
  }
}

/**
 * Collects the heap when no peer has connected for a while: connecting makes many objects (5 MB with twenty peers) that
 * a node which then only waits would never collect.
 * @returns what stops it
 */
export function trimAfterPeers(
  p2p: Pick<P2pNode, 'subscribe'>,
  clock: Clock,
  collect: () => void = () => collectSmallHeap(),
): () => void {
  let cancel = () => {}
  const unsubscribe = p2p.subscribe(({ type }) => {
    if (type !== 'peer.connected') return
    cancel()
    cancel = clock.after(CALM_MS, collect)
  })
  return () => {
    unsubscribe()
    cancel()
  }
}

/** Collects the whole heap where that takes no longer than a node that carries packets may pause. */
export function collectSmallHeap(mostBytes = MAX_COLLECTED_BYTES, collect = collectGarbage): void {
  // `process.memoryUsage()` opens a file, and throws where no more may be open
  if (v8.getHeapStatistics().used_heap_size < mostBytes) collect()
}
