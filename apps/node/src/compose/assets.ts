/**
 * The files of the web page and of the page for browser members: in a build those that it holds, compressed; from source
 * those of their own builds, where there are any. Each is read when it is first asked for.
 */
import { existsSync, readFileSync } from 'node:fs'
import { join, sep } from 'node:path'
import type { Asset, AssetsPort } from '@mesh/api-server'

/** `ui/manifest.json` in a build: path from the root to file name, type and compression. */
export type AssetManifest = Readonly<
  Record<string, { readonly file: string; readonly type: string; readonly encoding?: 'gzip' }>
>

const TYPES: Readonly<Record<string, string>> = {
  html: 'text/html; charset=utf-8',
  js: 'text/javascript; charset=utf-8',
  css: 'text/css; charset=utf-8',
  json: 'application/json; charset=utf-8',
  webmanifest: 'application/manifest+json; charset=utf-8',
  svg: 'image/svg+xml',
  png: 'image/png',
  ico: 'image/x-icon',
  woff2: 'font/woff2',
  txt: 'text/plain; charset=utf-8',
}

/** Content-Type of a file by its name. */
export function assetType(name: string): string {
  return TYPES[name.slice(name.lastIndexOf('.') + 1)] ?? 'application/octet-stream'
}

/** The pages of a node: in a build the folders that hold them, in a checkout those that their own builds write. */
const PAGES = {
  ui: '../../../web-ui/dist',
  join: '../../../../examples/browser-member/dist',
} as const

/**
 * Undefined when this build, or this checkout, has no such page.
 * @param folder that of the running code
 */
export function createAssets(
  page: keyof typeof PAGES,
  folder: string = import.meta.dirname,
): AssetsPort | undefined {
  const built = join(folder, page)
  if (existsSync(join(built, 'manifest.json'))) return builtAssets(built)
  const source = join(folder, PAGES[page])
  return existsSync(join(source, 'index.html')) ? sourceAssets(source) : undefined
}

function builtAssets(folder: string): AssetsPort {
  const manifest = JSON.parse(readFileSync(join(folder, 'manifest.json'), 'utf8')) as AssetManifest
  const known = new Map(Object.entries(manifest))
  return lazily((path) => {
    const entry = known.get(path)
    if (entry === undefined) return undefined
    const { file, type, encoding } = entry
    return { bytes: readFileSync(join(folder, file)), type, ...(encoding !== undefined && { encoding }) }
  })
}

function sourceAssets(folder: string): AssetsPort {
  return lazily((path) => {
    const file = join(folder, path)
    if (!file.startsWith(folder + sep) || !existsSync(file)) return undefined
    return { bytes: readFileSync(file), type: assetType(path) }
  })
}

function lazily(read: (path: string) => Asset | undefined): AssetsPort {
  const kept = new Map<string, Asset>()
  return {
    get(path) {
      const asset = kept.get(path) ?? read(path)
      if (asset !== undefined) kept.set(path, asset)
      return asset
    },
  }
}
