/** The package for Debian, installed on two systems without Node: `packaging/debian/try.sh` says what it tries. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdtempSync, readdirSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'

const ROOT = join(import.meta.dirname, '../../..')
const ADDON = join(ROOT, `packages/engine/npm/linux-${process.arch}-gnu/mesh-engine.node`)
/** How `try.sh` ends where the machine cannot do it. */
const SKIPPED = 77

test('a package is installed, carries a network of two, and is purged without a trace', (context) => {
  if (process.env['MESH_TEST_BUILD'] !== '1')
    return context.skip('it packs the build: MESH_TEST_BUILD=1 is not set')
  if (!existsSync(ADDON)) return context.skip('the engine is not built')
  if (spawnSync('dpkg-deb', ['--version']).status !== 0) return context.skip('dpkg-deb is not installed')
  const folder = mkdtempSync(join(tmpdir(), 'mesh-debian-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const words = ['--only', 'binary,sbom,deb', '--local', '--arch', process.arch, '--dist', folder]
  execFileSync(process.execPath, [join(ROOT, 'scripts/package.mjs'), ...words])
  const file = readdirSync(folder).find((name) => name.endsWith('.deb')) ?? ''

  const tried = spawnSync(join(ROOT, 'packaging/debian/try.sh'), [join(folder, file)], { encoding: 'utf8' })
  if (tried.status === SKIPPED) return context.skip(tried.stdout.trim())
  expect(`${tried.stdout}${tried.stderr}`).toContain('purged: kept the state on a, left nothing on b')

  // nothing where it is not installed
  const { stdout } = spawnSync('lintian', ['--allow-root', join(folder, file)], { encoding: 'utf8' })
  expect(stdout ?? '').not.toMatch(/^E:/m)
}, 300_000)
