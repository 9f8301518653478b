import { MAX_BODY_BYTES } from '@mesh/api-contract'
import express, { type Request, type Response } from 'express'
import { MAX_VALUE_DEPTH } from '../limits.ts'
import { isNestedDeeper } from '../views/json-text.ts'
import { issue, Problem } from './problem.ts'

const readRaw = express.raw({ limit: MAX_BODY_BYTES, inflate: false, type: () => true })
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: false })

export interface JsonBody {
  /** As sent, without white space around. */
  readonly text: string
  readonly value: unknown
}

/** @throws Problem `http.unsupported_media`, `http.body_too_large`, `http.bad_body` */
export async function readJsonBody(req: Request, res: Response): Promise<JsonBody> {
  checkMediaType(req)
  const bytes = await readBytes(req, res)
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
export function checkAnnouncedSize(req: Request): void {
  const length = Number(req.headers['content-length'] ?? 0)
  if (length > MAX_BODY_BYTES) throw tooLarge(length)
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

function readBytes(req: Request, res: Response): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    readRaw(req, res, (error?: unknown) => {
      if (error === undefined) return resolve(Buffer.isBuffer(req.body) ? req.body : Buffer.alloc(0))
      const { type, received } = error as { type?: string; received?: number }
      if (type === 'entity.too.large') return reject(tooLarge(received))
      reject(new Problem('http.bad_body', 'the body did not arrive whole', { cause: error }))
    })
  })
}

function decode(bytes: Buffer): string {
  try {
    return decoder.decode(bytes)
  } catch {
    throw badBody('the body is not UTF-8', 'UTF-8')
  }
}

function tooLarge(size: number | undefined): Problem {
  const had = size === undefined ? 'more' : `${size} bytes`
  return new Problem('http.body_too_large', `a body may have ${MAX_BODY_BYTES} bytes, this has ${had}`, {
    issues: [issue('body', had, `at most ${MAX_BODY_BYTES} bytes`)],
  })
}

function badBody(message: string, expected: string): Problem {
  return new Problem('http.bad_body', message, { issues: [issue('body', '', expected)] })
}
