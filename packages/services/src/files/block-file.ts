/**
 * Reads a file in blocks that go straight into messages: each block has room for its header. Reads some blocks with one system
 * call, and the next ones while those are sent. The blocks belong to their taker.
 */
import type { FileHandle } from 'node:fs/promises'
import { dataHeader } from './file-message.ts'
import { BLOCKS_PER_CALL, FILE_BLOCK_BYTES } from './limits.ts'

const FULL_HEADER = dataHeader(FILE_BLOCK_BYTES)

export interface FileBlock {
  /** The file's bytes, a view into `message`. */
  readonly bytes: Uint8Array
  /** The encoded `data` message of these bytes. */
  readonly message: Uint8Array
}

/**
 * Yields the bytes from `offset` (inclusive) to `end` (exclusive), in bytes. Ends early where the file does.
 */
export async function* readBlocks(
  file: FileHandle,
  { offset, end }: { readonly offset: number; readonly end: number },
  load: { readonly blocksPerCall: number } = { blocksPerCall: BLOCKS_PER_CALL },
): AsyncGenerator<FileBlock[]> {
  const read = (at: number) => readSome(file, at, Math.min(end, at + FILE_BLOCK_BYTES * load.blocksPerCall))
  let next = offset < end ? read(offset) : Promise.resolve([])
  for (let at = offset; at < end; ) {
    const blocks = await next
    if (blocks.length === 0) return
    at += blocks.reduce((sum, { bytes }) => sum + bytes.byteLength, 0)
    next = at < end ? read(at) : Promise.resolve([])
    // awaited by the next turn, or by nobody where the consumer stops
    next.catch(() => {})
    yield blocks
  }
}

async function readSome(file: FileHandle, offset: number, end: number): Promise<FileBlock[]> {
  const frames = makeFrames(end - offset)
  const { bytesRead } = await file.readv(
    frames.map((frame) => frame.subarray(FULL_HEADER.byteLength)),
    offset,
  )
  return cutBlocks(frames, bytesRead)
}

/** One allocation, cut into blocks with room for a header each. */
function makeFrames(byteCount: number): Uint8Array[] {
  const header = FULL_HEADER.byteLength
  const count = Math.ceil(byteCount / FILE_BLOCK_BYTES)
  const memory = Buffer.allocUnsafeSlow(byteCount + count * header)
  return Array.from({ length: count }, (_, index) => {
    const start = index * (FILE_BLOCK_BYTES + header)
    return memory.subarray(start, Math.min(memory.byteLength, start + header + FILE_BLOCK_BYTES))
  })
}

function cutBlocks(frames: readonly Uint8Array[], bytesRead: number): FileBlock[] {
  const blocks: FileBlock[] = []
  let left = bytesRead
  for (const frame of frames) {
    if (left <= 0) break
    const size = Math.min(left, frame.byteLength - FULL_HEADER.byteLength)
    left -= size
    const bytes = frame.subarray(FULL_HEADER.byteLength, FULL_HEADER.byteLength + size)
    blocks.push({ bytes, message: withHeader(frame, bytes) })
  }
  return blocks
}

/** A shorter header stands at the end of the room for one. */
function withHeader(frame: Uint8Array, bytes: Uint8Array): Uint8Array {
  const header = bytes.byteLength === FILE_BLOCK_BYTES ? FULL_HEADER : dataHeader(bytes.byteLength)
  const start = FULL_HEADER.byteLength - header.byteLength
  frame.set(header, start)
  return frame.subarray(start, FULL_HEADER.byteLength + bytes.byteLength)
}
