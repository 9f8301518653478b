/**
 * What a node does when all of it stands: 1 keeps the compiled code for the next start, which must not wait for
 * an orderly end; 2 gives back the memory that only the start needed, and later what only the coming of peers did.
 */
import module from 'node:module'
import v8 from 'node:v8'
import vm from 'node:vm'
import type { Clock } from '@mesh/core'
import type { P2pNode } from '@mesh/p2p'

/**
 * A node mostly waits: a young generation that stays at 1 MB saves 10 MB of memory, at the same speed. Not earlier:
 * whatever is compiled after a flag has changed is compiled from its source, Node's own modules too, since caches of
 * code hold for one set of flags; and the start makes many objects that stay.
 */
const SMALL_YOUNG_GENERATION = '--semi-space-growth-factor=1'
/**
 * Streams make buffers outside of the heap, some 64 MB a second at 0.5 Gbit/s, and V8 collects the whole heap for every
 * 64 MB of them: half of the processor time of a service that carries bulk. Counted together with the heap, they are
 * collected when both have grown: 7.5 to 9.6 in place of 11 to 14 s for each GB, with the same peak of memory (134 MB).
 */
const BUFFERS_WITH_THE_HEAP = [
  '--external-memory-accounted-in-global-limit',
  '--external-memory-max-growing-factor=4',
]

/** Nobody came for so long. */
const CALM_MS = 10_000
/** A larger heap takes longer to collect than a node that carries packets should pause. */
const MAX_COLLECTED_BYTES = 64 * 2 ** 20

export function settle(): void {
  module.flushCompileCache()
  for (const flag of [SMALL_YOUNG_GENERATION, ...BUFFERS_WITH_THE_HEAP]) v8.setFlagsFromString(flag)
  collectGarbage()
}

/** Also shrinks what the young generation grew to, which no other collection does. Takes 30 ms. */
function collectGarbage(): void {
  v8.setFlagsFromString('--expose-gc')
  const collect = vm.runInNewContext('gc') as (options: { type: 'major'; flavor: 'last-resort' }) => void
  collect({ type: 'major', flavor: 'last-resort' })
}

/**
 * To connect makes many objects that a node which then only waits never collects: 5 MB with twenty peers.
 * @returns stops it
 */
export function settleAfterPeers(
  p2p: Pick<P2pNode, 'subscribe'>,
  clock: Clock,
  collect = collectSmallHeap,
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

function collectSmallHeap(): void {
  if (process.memoryUsage().heapUsed < MAX_COLLECTED_BYTES) collectGarbage()
}
