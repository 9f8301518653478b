/** Puts the built pages into the node's build: compressed once, with a manifest that the node reads. */
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join, relative, sep } from 'node:path'
import { constants, gzipSync } from 'node:zlib'
import { type AssetManifest, assetType } from '../src/compose/assets.ts'

/** Smaller files gain nothing. */
const MIN_COMPRESSED_BYTES = 512
const COMPRESSIBLE = /^(text\/|image\/svg|application\/(json|manifest))/

/** @param folder apps/node */
export function embedPages(folder: string): void {
  embedPage(join(folder, '../web-ui'), join(folder, 'dist/ui'))
  embedPage(join(folder, '../../examples/browser-member'), join(folder, 'dist/join'))
}

function embedPage(source: string, target: string): void {
  const page = join(source, 'dist')
  if (!existsSync(join(page, 'index.html'))) {
    process.stderr.write(`no page: ${source} is not built, so this build of the node will be without it\n`)
    return
  }
  mkdirSync(target, { recursive: true })
  const manifest: Record<string, AssetManifest[string]> = {}
  const files = readdirSync(page, { recursive: true, withFileTypes: true }).filter((entry) => entry.isFile())
  for (const [at, entry] of files.entries()) {
    const path = join(entry.parentPath, entry.name)
    const bytes = readFileSync(path)
    const type = assetType(entry.name)
    const isCompressed = COMPRESSIBLE.test(type) && bytes.length >= MIN_COMPRESSED_BYTES
    // flat and numbered: what a browser asks for never becomes a path here
    const file = `${at}.bin`
    writeFileSync(
      join(target, file),
      isCompressed ? gzipSync(bytes, { level: constants.Z_BEST_COMPRESSION }) : bytes,
    )
    manifest[`/${relative(page, path).split(sep).join('/')}`] = {
      file,
      type,
      ...(isCompressed && { encoding: 'gzip' as const }),
    }
  }
  writeFileSync(join(target, 'manifest.json'), JSON.stringify(manifest))
}
