/** The head of an HTTP/1.1 answer (RFC 9112). */
import { MAX_HEAD_BYTES } from '../limits.ts'
import type { StreamReader } from './stream-reader.ts'

export interface AnswerHead {
  readonly status: number
  readonly statusText: string
  readonly headers: readonly (readonly [name: string, value: string])[]
}

const STATUS_LINE = /^HTTP\/1\.[01] ([1-5]\d\d)(?: ([\t\x20-\x7e\x80-\xff]*))?$/
const HEADER = /^([!#$%&'*+.^_`|~0-9A-Za-z-]+):[\t ]*([\t\x20-\x7e\x80-\xff]*?)[\t ]*$/

/** @throws Error for what is no head, or too long */
export async function readHead(reader: StreamReader): Promise<AnswerHead> {
  const [, status, statusText = ''] = STATUS_LINE.exec(await reader.readLine(MAX_HEAD_BYTES)) ?? []
  if (status === undefined) throw new Error('the answer is not HTTP/1.1')
  const headers = await readHeaders(reader)
  return { status: Number(status), statusText, headers }
}

/** Reads lines up to the empty one: the headers, or the trailer behind chunks. @throws Error */
export async function readHeaders(reader: StreamReader): Promise<AnswerHead['headers']> {
  const headers: [string, string][] = []
  for (let left = MAX_HEAD_BYTES; ; ) {
    const line = await reader.readLine(left)
    if (line === '') return headers
    left -= line.length
    const [, name, value] = HEADER.exec(line) ?? []
    if (name === undefined || value === undefined) throw new Error('a header of the answer is malformed')
    headers.push([name.toLowerCase(), value])
  }
}

export type BodyLength = 'chunked' | 'until-end' | number

/** Says how long the body is. @throws Error where the headers contradict each other (RFC 9112, 6.3) */
export function bodyLengthOf({ headers }: AnswerHead): BodyLength {
  const valuesOf = (wanted: string) => headers.flatMap(([name, value]) => (name === wanted ? [value] : []))
  const encodings = valuesOf('transfer-encoding')
  const lengths = new Set(valuesOf('content-length').flatMap((value) => value.split(/ *, */)))
  if (encodings.length > 0) {
    if (lengths.size > 0) throw new Error('the answer has two lengths')
    if (encodings.join().toLowerCase() !== 'chunked') throw new Error('the answer has an unknown encoding')
    return 'chunked'
  }
  const [length, ...others] = lengths
  if (length === undefined) return 'until-end'
  if (others.length > 0 || !/^\d{1,15}$/.test(length)) throw new Error('the answer has no usable length')
  return Number(length)
}
