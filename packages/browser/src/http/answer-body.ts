/** The body of an HTTP/1.1 answer, as it comes. */
import { MAX_CHUNK_LINE_BYTES } from '../limits.ts'
import { type BodyLength, readHeaders } from './answer-head.ts'
import type { StreamReader } from './stream-reader.ts'

/** Yields the bytes of the body. @throws Error when it ends early, or its chunks are malformed */
export async function* readBody(reader: StreamReader, length: BodyLength): AsyncGenerator<Uint8Array> {
  if (length === 'chunked') yield* readChunks(reader)
  else if (length === 'until-end') {
    for (let bytes = await reader.read(); bytes !== undefined; bytes = await reader.read()) yield bytes
  } else yield* readExactly(reader, length)
}

async function* readExactly(reader: StreamReader, length: number): AsyncGenerator<Uint8Array> {
  for (let left = length; left > 0; ) {
    const bytes = await reader.read(left)
    if (bytes === undefined) throw new Error('the answer ended early')
    left -= bytes.length
    yield bytes
  }
}

async function* readChunks(reader: StreamReader): AsyncGenerator<Uint8Array> {
  for (;;) {
    const line = await reader.readLine(MAX_CHUNK_LINE_BYTES)
    const [, digits] = /^([0-9a-f]{1,12})[\t ]*(?:;.*)?$/i.exec(line) ?? []
    if (digits === undefined) throw new Error('a chunk of the answer has no length')
    const length = Number.parseInt(digits, 16)
    if (length === 0) break
    yield* readExactly(reader, length)
    if ((await reader.readLine(MAX_CHUNK_LINE_BYTES)) !== '')
      throw new Error('a chunk of the answer is too long')
  }
  await readHeaders(reader)
}
