/** The embedded web page: its files by path, and the page itself for every address that it may show. */
import type { Request, Response } from 'express'
import type { Asset, AssetsPort } from '../ports.ts'
import { Problem } from './problem.ts'
import { PAGE_HEADERS, splitTarget } from './reply.ts'

const PAGE = '/index.html'
const NO_PAGE: Asset = {
  bytes: Buffer.from('This build of mesh has no web page. Its API is at /api, see /api/openapi.json.\n'),
  type: 'text/plain; charset=utf-8',
}

/** @throws Problem `http.not_found` for methods other than GET and HEAD, and for files that do not exist */
export async function servePage(assets: AssetsPort | undefined, req: Request, res: Response): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw new Problem('http.not_found')
  const path = decodeURIComponent(splitTarget(req.url).path)
  const isFile = path.lastIndexOf('.') > path.lastIndexOf('/')
  const asset = isFile ? assets?.get(path) : (assets?.get(PAGE) ?? NO_PAGE)
  if (asset === undefined)
    throw new Problem('http.not_found', `there is no file ${JSON.stringify(path.slice(0, 200))}`)
  await sendAsset(asset, isHashed(path), req, res)
}

/** A file of the build whose name holds a hash of its bytes: it never becomes another. */
function isHashed(path: string): boolean {
  return /^\/assets\/[^/]+-[A-Za-z0-9_-]{8}\.[a-z0-9]+$/.test(path)
}

async function sendAsset(asset: Asset, isImmutable: boolean, req: Request, res: Response): Promise<void> {
  const { type, encoding } = asset
  const isTaken = encoding !== undefined && req.acceptsEncodings([encoding]) === encoding
  const bytes = isTaken || encoding === undefined ? asset.bytes : await inflated(asset, encoding)
  res
    .writeHead(200, {
      ...PAGE_HEADERS,
      ...(isImmutable && { 'Cache-Control': 'public, max-age=31536000, immutable' }),
      'Content-Type': type,
      'Content-Length': bytes.length,
      ...(encoding !== undefined && { Vary: 'Accept-Encoding' }),
      ...(isTaken && { 'Content-Encoding': encoding }),
    })
    .end(bytes)
}

/**
 * Undoes the compression for the few clients that take none; assets are ours and small, and each is undone
 * once.
 */
const inflatedBytes = new WeakMap<Asset, Buffer>()

async function inflated(asset: Asset, encoding: 'br' | 'gzip'): Promise<Buffer> {
  const known = inflatedBytes.get(asset)
  if (known !== undefined) return known
  const { brotliDecompressSync, gunzipSync } = await import('node:zlib')
  const bytes = encoding === 'br' ? brotliDecompressSync(asset.bytes) : gunzipSync(asset.bytes)
  inflatedBytes.set(asset, bytes)
  return bytes
}
