import { MAX_BODY_BYTES } from '@mesh/api-contract'
import type { Scope } from '@mesh/core/limits'
import type { Request, Response } from 'express'
import { MAX_VALUE_DEPTH } from '../limits.ts'
import { isNestedDeeper } from '../views/json-text.ts'
import { issue, Problem } from '../messages/problem.ts'

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

export interface JsonBody {
  /** The body as it was sent, without white space around. */
  readonly text: string
  readonly value: unknown
}

/**
 * Reads what should be JSON, whole.
 * @param bodies bounds the bytes of all bodies that have not come whole
 * @throws Problem `http.unsupported_media`, `http.body_too_large`, `http.bad_body`
 */
export function readBody(req: Request, res: Response, bodies: Scope): Promise<Buffer> {
  checkMediaType(req)
  return readBytes(req, res, bodies, MAX_BODY_BYTES)
}

/** @throws Problem `http.bad_body` */
export function parseJsonBody(bytes: Buffer): JsonBody {
  const text = decode(bytes).trim()
  if (text === '') throw badBody('the body is empty', 'a JSON value')
  if (isNestedDeeper(text, MAX_VALUE_DEPTH)) {
    throw badBody('the body is nested too deep', `at most ${MAX_VALUE_DEPTH} levels`)
  }
  try {
    return { text, value: JSON.parse(text) }
  } catch (error) {
    throw badBody(`the body is not JSON: ${error instanceof Error ? error.message : ''}`, 'JSON')
  }
}

/** Refused by its announced size, before a byte of it is read. */
export function checkAnnouncedSize(req: Request, maxBytes: number): void {
  const length = Number(req.headers['content-length'] ?? 0)
  if (length > maxBytes) throw tooLarge(length, maxBytes)
}

function checkMediaType(req: Request): void {
  const [type = '', ...parameters] = (req.headers['content-type'] ?? '').split(';')
  const charset = parameters
    .map((text) => /^\s*charset\s*=\s*"?([^"\s]+)"?\s*$/i.exec(text)?.[1])
    .find(Boolean)
  const isJson = /^\s*application\/(?:[\w.-]+\+)?json\s*$/i.test(type)
  const isUtf8 = charset === undefined || /^(utf-8|utf8|us-ascii)$/i.test(charset)
  const encoding = req.headers['content-encoding'] ?? 'identity'
  if (isJson && isUtf8 && encoding === 'identity') return
  const [field, value] =
    encoding === 'identity' ? ['Content-Type', req.headers['content-type']] : ['Content-Encoding', encoding]
  throw new Problem('http.unsupported_media', undefined, {
    issues: [issue(field ?? '', value, 'application/json in UTF-8, not compressed')],
  })
}

/**
 * Reads up to the limit and answers at once beyond it: Express's own reader would first read to the end, which a
 * client that never ends can put off. What still comes is dropped by the server.
 */
export function readBytes(req: Request, res: Response, bodies: Scope, maxBytes: number): Promise<Buffer> {
  if (req.headers.expect !== undefined) res.writeContinue()
  return new Promise((resolve, reject) => {
    const body = new GatheredBytes(maxBytes)
    const address = req.socket.remoteAddress ?? ''
    const place = bodies.reserve({ address, size: 0, end: () => res.destroy() })
    const finish = (problem?: Problem) => {
      req.off('data', onData).off('end', onEnd).off('close', onBroken).off('error', onBroken)
      place?.release()
      // errors of the rest have no effect
      req.on('error', () => {}).resume()
      if (problem === undefined) resolve(body.bytes())
      else reject(problem)
    }
    const onData = (chunk: Buffer) => {
      if (body.length + chunk.length > maxBytes) finish(tooLarge(undefined, maxBytes))
      else {
        const heldBytes = body.heldBytes
        body.add(chunk)
        if (body.heldBytes > heldBytes && place?.resize(body.heldBytes) === false) res.destroy()
      }
    }
    const onEnd = () => finish()
    const onBroken = () => finish(new Problem('http.bad_body', 'the body did not arrive whole'))
    req.on('data', onData).on('end', onEnd).on('close', onBroken).on('error', onBroken)
  })
}

/** The pieces of one body, one behind the other: each has two hundred bytes beside its own where it is kept by itself. */
class GatheredBytes {
  readonly #maxBytes: number
  #block = Buffer.alloc(0)
  length = 0

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes
  }

  get heldBytes(): number {
    return this.#block.length
  }

  add(piece: Uint8Array): void {
    const length = this.length + piece.length
    if (length > this.#block.length) {
      const block = Buffer.allocUnsafeSlow(Math.min(Math.max(length, 2 * this.#block.length), this.#maxBytes))
      this.#block.copy(block, 0, 0, this.length)
      this.#block = block
    }
    this.#block.set(piece, this.length)
    this.length = length
  }

  bytes(): Buffer {
    return this.#block.subarray(0, this.length)
  }
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw badBody('the body is not UTF-8', 'UTF-8')
  }
}

function tooLarge(size: number | undefined, maxBytes: number): Problem {
  const had = size === undefined ? 'more' : `${size}`
  return new Problem('http.body_too_large', `a body may have ${maxBytes} bytes, this has ${had}`, {
    issues: [issue('body', had, `at most ${maxBytes} bytes`)],
  })
}

function badBody(message: string, expected: string): Problem {
  return new Problem('http.bad_body', message, { issues: [issue('body', '', expected)] })
}
