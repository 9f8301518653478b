/**
 * The bytes of a stream that wait for their frame to be whole. What is long is copied into blocks that are used again: an
 * unfinished frame may wait for long, and buffers that did so and are then dropped stay in memory until the whole heap is
 * collected, so that a flood of frames would cost several times what they may hold.
 */
import { Uint8ArrayList } from 'uint8arraylist'

const BLOCK_BYTES = 64 * 1024
/** The most blocks that wait to be used again; who needs memory may collect them before. */
const MAX_SPARE_BLOCKS = 512

const spare: WeakRef<Uint8Array>[] = []

function takeBlock(): Uint8Array {
  for (;;) {
    const last = spare.pop()
    if (last === undefined) return new Uint8Array(BLOCK_BYTES)
    const block = last.deref()
    if (block !== undefined) return block
  }
}

/** A block in use, and where the bytes after it begin, counted from the first byte of the stream. */
interface UsedBlock {
  readonly bytes: Uint8Array
  end: number
}

export class FrameQueue {
  readonly #bytes = new Uint8ArrayList()
  /** The blocks with bytes that wait, the oldest first; the last one may have room. */
  #blocks: UsedBlock[] = []
  #room = 0
  /** How many bytes of the stream have come, and how many were taken. */
  #came = 0
  #taken = 0

  get byteLength(): number {
    return this.#bytes.byteLength
  }

  get(index: number): number {
    return this.#bytes.get(index)
  }

  append(data: Uint8Array | Uint8ArrayList): void {
    if (this.byteLength + data.byteLength <= BLOCK_BYTES) {
      this.#bytes.append(data)
      this.#came += data.byteLength
    } else for (const part of data instanceof Uint8Array ? [data] : data) this.#copy(part)
  }

  /** Takes the first bytes out, of which those after `from` are given in a buffer of their own. */
  take(from: number, to: number): Uint8Array {
    const taken = this.#bytes.slice(from, to)
    this.#bytes.consume(to)
    this.#taken += to
    this.#release((end) => end <= this.#taken)
    return taken
  }

  /** Drops all of it. */
  clear(): void {
    this.#bytes.consume(this.byteLength)
    this.#taken = this.#came
    this.#release(() => true)
  }

  #copy(part: Uint8Array): void {
    for (let at = 0; at < part.length; ) {
      const block = this.#blockWithRoom()
      const count = Math.min(this.#room, part.length - at)
      const start = BLOCK_BYTES - this.#room
      block.bytes.set(part.subarray(at, at + count), start)
      this.#bytes.append(block.bytes.subarray(start, start + count))
      this.#room -= count
      this.#came += count
      block.end = this.#came
      at += count
    }
  }

  #blockWithRoom(): UsedBlock {
    const last = this.#blocks.at(-1)
    if (last !== undefined && this.#room > 0) return last
    const block = { bytes: takeBlock(), end: this.#came }
    this.#blocks.push(block)
    this.#room = BLOCK_BYTES
    return block
  }

  #release(isDone: (end: number) => boolean): void {
    let count = 0
    for (const { bytes, end } of this.#blocks) {
      if (!isDone(end)) break
      count++
      if (spare.length < MAX_SPARE_BLOCKS) spare.push(new WeakRef(bytes))
    }
    this.#blocks = this.#blocks.slice(count)
    if (this.#blocks.length === 0) this.#room = 0
  }
}
