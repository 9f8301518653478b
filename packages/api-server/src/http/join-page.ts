/**
 * The page by which browser tabs join: `/join`, its files below it, and `/join/nodes.json`, which says where tabs connect.
 * The token that a person gives the page stays there: the page may connect to this node alone.
 */
import type { Request, Response } from 'express'
import type { Asset, BrowserMembersPort } from '../ports.ts'
import { Problem } from '../messages/problem.ts'
import { pageHeaders, sendJson, splitTarget } from '../messages/reply.ts'
import { hostNameOf } from './guard.ts'
import { inflated, isHashed, sendAsset } from './pages.ts'

const PAGE = '/join'
const NODES = '/join/nodes.json'

export function isJoinPath(path: string): boolean {
  return path === PAGE || path.startsWith(`${PAGE}/`)
}

/** @throws Problem `http.not_found` for methods other than GET and HEAD, and for files that do not exist */
export async function serveJoinPage(
  { assets, nodes }: BrowserMembersPort,
  req: Request,
  res: Response,
): Promise<void> {
  if (req.method !== 'GET' && req.method !== 'HEAD') throw new Problem('http.not_found')
  const { path } = splitTarget(req.url)
  const here = nodes(hostNameOf(req) ?? '')
  if (path === NODES) return sendJson(req, res, { Nodes: here.map(({ address }) => address) })
  const file = decodeURIComponent(path.slice(PAGE.length))
  const isPage = file === '' || file === '/'
  const asset = isPage ? await pageOf(assets.get('/index.html'), file) : assets.get(file)
  if (asset === undefined) {
    const what = isPage
      ? 'this build of mesh has no page for browser members'
      : `there is no file ${JSON.stringify(path.slice(0, 200))}`
    throw new Problem('http.not_found', what)
  }
  const headers = pageHeaders(here.map(({ origin }) => origin))
  await sendAsset(asset, { isImmutable: isHashed(file), headers }, { req, res })
}

/** At `/join`, without a slash at its end, the files of the page are one folder down. */
async function pageOf(page: Asset | undefined, file: string): Promise<Asset | undefined> {
  if (page === undefined || file !== '') return page
  const html = page.encoding === undefined ? page.bytes : await inflated(page, page.encoding)
  const text = Buffer.from(html).toString('utf8').replaceAll('="./', '="./join/')
  return { type: page.type, bytes: Buffer.from(text) }
}
