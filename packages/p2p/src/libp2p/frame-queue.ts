/**
 * The bytes of a stream that wait for the rest of their frame. Later pieces are copied into blocks: a piece of one byte would keep its
 * whole message in memory. Long blocks are reused. Dropped buffers of unfinished frames stay until the whole heap is
 * collected, so a flood of frames would cost several times its size.
 */
import type { Uint8ArrayList } from 'uint8arraylist'
import { isSmallPart } from '@mesh/core'

const BLOCK_BYTES = 64 * 1024
/** How long the first block of a queue is, in bytes; the next ones are as long as all before them, up to `BLOCK_BYTES`. */
const LEAST_BLOCK_BYTES = 1_024
/** The most blocks that wait to be used again; who needs memory may collect them before. */
const MAX_SPARE_BLOCKS = 512

const spare: WeakRef<Uint8Array>[] = []

function keepBlock(block: Uint8Array): void {
  if (block.length === BLOCK_BYTES && spare.length < MAX_SPARE_BLOCKS) spare.push(new WeakRef(block))
}

function takeBlock(): Uint8Array {
  for (;;) {
    const last = spare.pop()
    if (last === undefined) return new Uint8Array(BLOCK_BYTES)
    const block = last.deref()
    if (block !== undefined) return block
  }
}

/** Bytes that wait: those from `start` to `end` of a block. */
interface Part {
  readonly block: Uint8Array
  /** True for a block of this queue's own, in which there may be room after `end`. */
  readonly isOwn: boolean
  start: number
  end: number
}

export class FrameQueue {
  /** The oldest first; of the last one alone there may be room. */
  #parts: Part[] = []
  #byteLength = 0

  get byteLength(): number {
    return this.#byteLength
  }

  get(index: number): number {
    let at = index
    for (const { block, start, end } of this.#parts) {
      if (at < end - start) return block[start + at] as number
      at -= end - start
    }
    throw new RangeError(`no byte ${index}`)
  }

  append(data: Uint8Array | Uint8ArrayList): void {
    for (const piece of data instanceof Uint8Array ? [data] : data) {
      if (this.#byteLength > 0 || isSmallPart(piece)) this.#copy(piece)
      else if (piece.byteLength > 0) {
        this.#parts.push({ block: piece, isOwn: false, start: 0, end: piece.byteLength })
        this.#byteLength += piece.byteLength
      }
    }
  }

  /** Takes the first bytes out, of which those after `from` are given in a buffer of their own. */
  take(from: number, to: number): Uint8Array {
    const taken = new Uint8Array(to - from)
    let at = 0
    for (const { block, start, end } of this.#parts) {
      if (at >= to) break
      const first = Math.max(from - at, 0)
      const last = Math.min(to - at, end - start)
      if (first < last) taken.set(block.subarray(start + first, start + last), at + first - from)
      at += end - start
    }
    this.#drop(to)
    return taken
  }

  /** Drops all of it. */
  clear(): void {
    this.#drop(this.#byteLength)
  }

  #copy(piece: Uint8Array): void {
    for (let at = 0; at < piece.length; ) {
      const part = this.#partWithRoom()
      const count = Math.min(part.block.length - part.end, piece.length - at)
      part.block.set(piece.subarray(at, at + count), part.end)
      part.end += count
      this.#byteLength += count
      at += count
    }
  }

  #partWithRoom(): Part {
    const last = this.#parts.at(-1)
    if (last?.isOwn === true && last.end < last.block.length) return last
    const size = Math.max(LEAST_BLOCK_BYTES, this.#byteLength)
    const block = size < BLOCK_BYTES ? new Uint8Array(size) : takeBlock()
    const part = { block, isOwn: true, start: 0, end: 0 }
    this.#parts.push(part)
    return part
  }

  #drop(count: number): void {
    let left = count
    let done = 0
    for (const part of this.#parts) {
      const length = part.end - part.start
      if (left < length) {
        part.start += left
        break
      }
      left -= length
      done++
      if (part.isOwn) keepBlock(part.block)
    }
    this.#parts = this.#parts.slice(done)
    this.#byteLength -= count
  }
}
