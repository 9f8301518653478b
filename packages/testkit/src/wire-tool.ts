/** `wire-tool` (packages/engine/tools): many WireGuard peers in one process, and floods of hostile datagrams. */
import { spawnSync } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'

const ENGINE = join(import.meta.dirname, '../../engine')
const FILE = join(ENGINE, 'target/release/wire-tool')
const BUILD = ['build', '--release', '--locked', '--features', 'tools', '--bin', 'wire-tool', '--quiet']
const BUILD_TIMEOUT_MS = 300_000

type Found = { readonly file: string } | { readonly skipped: string }
let found: Found | undefined

/** Its file, built where cargo is, or why there is none. */
export function findWireTool(): Found {
  return (found ??= findOrBuild())
}

function findOrBuild(): Found {
  // scripts/check.mjs has built it before the tests
  if (process.env['MESH_TEST_BUILD'] === '1' && existsSync(FILE)) return { file: FILE }
  const env = { ...process.env, CARGO_TARGET_DIR: join(ENGINE, 'target') }
  const { status, error, stderr } = spawnSync('cargo', BUILD, {
    cwd: ENGINE,
    env,
    encoding: 'utf8',
    timeout: BUILD_TIMEOUT_MS,
  })
  if (status === 0) return { file: FILE }
  if (error !== undefined) return { skipped: 'wire-tool cannot be built: cargo is not installed' }
  return { skipped: `wire-tool cannot be built: ${stderr.trim().split('\n')[0]}` }
}
