/**
 * The embedded web page: its files by path, and the page itself for every address that it may show. The page names its
 * files relative to its own address, so that it works below a path of a reverse proxy, which only the proxy knows.
 */
import type { Request, Response } from 'express'
import type { Asset, AssetsPort } from '../ports.ts'
import { Problem } from '../messages/problem.ts'
import { PAGE_HEADERS, splitTarget } from '../messages/reply.ts'

const PAGE = '/index.html'
/** No address of the page has more folders: from deeper ones its files are not found. */
const MAX_PAGE_DEPTH = 16
const NO_PAGE: Asset = {
  bytes: Buffer.from('This build of mesh has no web page. Its API is at /api, see /api/openapi.json.\n'),
  type: 'text/plain; charset=utf-8',
}

/** @throws Problem `http.not_found` for methods other than GET and HEAD, and for files that do not exist */
export async function servePage(assets: AssetsPort | undefined, req: Request, res: Response): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw new Problem('http.not_found')
  const asked = splitTarget(req.url).path
  const path = decodeURIComponent(asked)
  const isFile = path.lastIndexOf('.') > path.lastIndexOf('/')
  const asset = isFile ? assets?.get(path) : await pageAt(asked, assets)
  if (asset === undefined)
    throw new Problem('http.not_found', `there is no file ${JSON.stringify(path.slice(0, 200))}`)
  await sendAsset(asset, { isImmutable: isHashed(path) }, { req, res })
}

/** The page for an address: from `/machines/x` its files are one folder up. */
async function pageAt(path: string, assets: AssetsPort | undefined): Promise<Asset> {
  const depth = path.split('/').length - 2
  const page = assets?.get(PAGE)
  if (page === undefined || depth === 0 || depth > MAX_PAGE_DEPTH) return page ?? NO_PAGE
  const html = page.encoding === undefined ? page.bytes : await inflated(page, page.encoding)
  const text = Buffer.from(html).toString('utf8')
  return { type: page.type, bytes: Buffer.from(text.replaceAll('="./', `="${'../'.repeat(depth)}`)) }
}

/** A file of the build whose name holds a hash of its bytes: it never becomes another. */
export function isHashed(path: string): boolean {
  return /^\/assets\/[^/]+-[A-Za-z0-9_-]{8}\.[a-z0-9]+$/.test(path)
}

interface SendInit {
  /** True for a file that never becomes another one. */
  readonly isImmutable: boolean
  readonly headers?: Readonly<Record<string, string>>
}

export async function sendAsset(
  asset: Asset,
  { isImmutable, headers = PAGE_HEADERS }: SendInit,
  { req, res }: { readonly req: Request; readonly res: Response },
): Promise<void> {
  const { type, encoding } = asset
  const isTaken = encoding !== undefined && req.acceptsEncodings([encoding]) === encoding
  const bytes = isTaken || encoding === undefined ? asset.bytes : await inflated(asset, encoding)
  res
    .writeHead(200, {
      ...headers,
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

export async function inflated(asset: Asset, encoding: 'br' | 'gzip'): Promise<Buffer> {
  const known = inflatedBytes.get(asset)
  if (known !== undefined) return known
  const { brotliDecompressSync, gunzipSync } = await import('node:zlib')
  const bytes = encoding === 'br' ? brotliDecompressSync(asset.bytes) : gunzipSync(asset.bytes)
  inflatedBytes.set(asset, bytes)
  return bytes
}
