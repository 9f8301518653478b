/**
 * The npm part of `npm run package`: builds, and packs every published package into `DIST/npm/NAME-VERSION.tgz`. The
 * engine comes for x64 and arm64, glibc and musl; with `--local` it is packed for each platform whose addon was built.
 */
import { spawnSync } from 'node:child_process'
import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { packPackages } from '../pack-packages.mjs'
import { ARCHITECTURES } from './architectures.mjs'
import { buildEngine } from './toolchain.mjs'

const root = join(import.meta.dirname, '../..')

/**
 * @param dist the folder of everything that is packaged; an older `npm` in it is replaced
 * @returns the tarballs' paths
 */
export function packageNpm(dist, { isLocal }) {
  if (!isLocal)
    for (const arch of Object.keys(ARCHITECTURES)) for (const libc of ['gnu', 'musl']) buildEngine(arch, libc)
  const turbo = join(root, 'node_modules/.bin/turbo')
  const words = ['run', 'build', 'build:addon', 'build:types', '--output-logs=errors-only', '--ui=stream']
  const { status } = spawnSync(turbo, words, { cwd: root, stdio: 'inherit' })
  if (status !== 0) throw new Error('the build failed; its lines above say why')
  const folder = join(dist, 'npm')
  rmSync(folder, { recursive: true, force: true })
  mkdirSync(folder, { recursive: true })
  return packPackages(folder)
}
