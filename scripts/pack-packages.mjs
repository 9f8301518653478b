/**
 * Packs what is published, as `pnpm publish` would: `node scripts/pack-packages.mjs FOLDER` after the build, prints
 * the tarballs' names. A platform package is packed where its addon was built.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, globSync, readdirSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = resolve(import.meta.dirname, '..')

/** Name -> folder from the root and manifest, of every package that is not private. */
export function publishedPackages() {
  const files = globSync(['apps/*/package.json', 'packages/{*,engine/npm/*}/package.json'], {
    cwd: root,
  }).toSorted()
  const all = files.map((file) => ({
    folder: file.replaceAll('\\', '/').replace(/\/package\.json$/, ''),
    manifest: JSON.parse(readFileSync(join(root, file), 'utf8')),
  }))
  return new Map(
    all.filter(({ manifest }) => manifest.private !== true).map((found) => [found.manifest.name, found]),
  )
}

/** @returns the tarballs' paths */
export function packPackages(destination) {
  const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
  const packable = [...publishedPackages().values()].filter(
    ({ folder, manifest }) =>
      !manifest.main?.endsWith('.node') || existsSync(join(root, folder, manifest.main)),
  )
  const filters = packable.map(({ folder }) => `--filter={${folder}}`)
  const { status, stderr, stdout } = spawnSync(
    'npx',
    ['--yes', packageManager, '--recursive', ...filters, 'pack', '--pack-destination', destination, '--json'],
    { cwd: root, encoding: 'utf8', shell: process.platform === 'win32', maxBuffer: 1 << 26 },
  )
  const tarballs = readdirSync(destination).filter((name) => name.endsWith('.tgz'))
  if (status !== 0 || tarballs.length !== packable.length)
    throw new Error(`packed ${tarballs.length} of ${packable.length} packages:\n${stderr}${stdout}`)
  return tarballs.map((name) => join(destination, name))
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  for (const tarball of packPackages(resolve(process.argv[2] ?? '.'))) console.log(tarball)
}
