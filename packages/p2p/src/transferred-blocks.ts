/**
 * Blocks of memory that were handed over with the bytes in them. Each is freed as soon as all of it has gone out, and not by
 * the collector: V8 counts such blocks with a heap that hardly grows beside them, so that what is sent at 400 MB/s let 80 MB
 * and more of them wait for the next collection.
 */

/** The least length of such a block, in bytes: shorter ones are left to the collector, which costs less than to count them. */
const LEAST_BLOCK_BYTES = 4_096

/** The number of bytes of each block that have not gone out. */
const left = new WeakMap<ArrayBufferLike, number>()

/**
 * Takes over the memory of these bytes, of which nothing else may use a part. A short block, and a view of less than half of
 * its memory, are left to the collector.
 */
export function transferBlock({ buffer, byteOffset, byteLength }: Uint8Array): void {
  if (byteLength < LEAST_BLOCK_BYTES || byteOffset > 0 || byteLength * 2 < buffer.byteLength) return
  left.set(buffer, byteLength)
}

export function isTransferred({ buffer }: Uint8Array): boolean {
  return left.has(buffer)
}

/** The blocks of which all has gone out. */
let gone: ArrayBuffer[] = []

/** Counts these bytes as gone; with the last of them their block is freed. Bytes that were not handed over are left alone. */
export function releaseBlock({ buffer, byteLength }: Uint8Array): void {
  const bytes = left.get(buffer)
  if (bytes === undefined) return
  if (bytes > byteLength) {
    left.set(buffer, bytes - byteLength)
    return
  }
  left.delete(buffer)
  if (!(buffer instanceof ArrayBuffer)) return
  // who sends counts by the lengths of the blocks afterwards, and one that was freed has none
  if (gone.length === 0) queueMicrotask(freeGone)
  gone.push(buffer)
}

function freeGone(): void {
  const blocks = gone
  gone = []
  for (const block of blocks) block.transfer(0)
}
