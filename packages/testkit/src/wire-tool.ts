/** `wire-tool` (tools/wire-tool): many WireGuard peers in one process, and floods of hostile datagrams. */
import { spawnSync } from 'node:child_process'
import { readdirSync, statSync } from 'node:fs'
import { join } from 'node:path'

const ENGINE = join(import.meta.dirname, '../../engine')
const TOOL = join(import.meta.dirname, '../../../tools/wire-tool')
const TARGET = join(ENGINE, 'target')
const FILE = join(TARGET, 'release/wire-tool')
const BUILD = ['build', '--release', '--locked', '--features', 'tools', '--bin', 'wire-tool', '--quiet']
const BUILD_TIMEOUT_MS = 300_000

type Found = { readonly file: string } | { readonly skipped: string }
let found: Found | undefined

/** Its file, built where cargo is, or why there is none. */
export function findWireTool(): Found {
  return (found ??= findOrBuild())
}

function findOrBuild(): Found {
  // scripts/check.mjs has built it before the tests, with other flags, so that cargo would do it again
  if (isNewerThanSources()) return { file: FILE }
  const words = [...BUILD, '--target-dir', TARGET]
  const { status, error, stderr } = spawnSync('cargo', words, {
    cwd: ENGINE,
    encoding: 'utf8',
    timeout: BUILD_TIMEOUT_MS,
  })
  if (status === 0) return { file: FILE }
  if (error !== undefined) return { skipped: 'wire-tool cannot be built: cargo is not installed' }
  return { skipped: `wire-tool cannot be built: ${stderr.trim().split('\n')[0]}` }
}

function isNewerThanSources(): boolean {
  const built = statSync(FILE, { throwIfNoEntry: false })?.mtimeMs
  if (built === undefined) return false
  const sources = [join(ENGINE, 'native'), TOOL].flatMap((folder) =>
    readdirSync(folder, { recursive: true, encoding: 'utf8' }).map((path) => join(folder, path)),
  )
  return [join(ENGINE, 'Cargo.lock'), ...sources].every((path) => statSync(path).mtimeMs <= built)
}
