/** The newest wireguard-go, built once from its Go module: Debian's knows no segmentation offload and is far slower. */
import { execFileSync, spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, renameSync, rmSync } from 'node:fs'
import { homedir } from 'node:os'
import { join } from 'node:path'

const MODULE = 'golang.zx2c4.com/wireguard'
/** Pinned, so that figures of different days compare. */
const VERSION = 'v0.0.0-20260522210424-ecfc5a8d5446'
const BUILD_TIMEOUT_MS = 180_000

/**
 * Its file, or why there is none. Without go it is the one that is installed, whatever its age.
 * @param tools programs that the caller sets it up with
 */
export function findWireguardGo(
  tools: readonly string[] = [],
): { readonly file: string } | { readonly skipped: string } {
  const missing = tools.find((tool) => !hasTool(tool))
  if (missing !== undefined) return { skipped: `${missing} is not installed` }
  try {
    const file = findOrBuild()
    return file === undefined ? { skipped: 'neither wireguard-go nor go is installed' } : { file }
  } catch {
    return { skipped: 'wireguard-go could not be built: its Go module cannot be had here' }
  }
}

function findOrBuild(): string | undefined {
  const folder = join(homedir(), '.cache', 'mesh')
  const built = join(folder, `wireguard-go-${VERSION}`)
  if (existsSync(built)) return built
  if (!hasTool('go')) return hasTool('wireguard-go') ? 'wireguard-go' : undefined
  const made = join(folder, `build-${process.pid}`)
  mkdirSync(made, { recursive: true })
  const build = [`GOBIN=${made}`, 'GOFLAGS=-mod=mod', 'go', 'install', `${MODULE}@${VERSION}`]
  execFileSync('env', build, { stdio: 'ignore', timeout: BUILD_TIMEOUT_MS })
  renameSync(join(made, 'wireguard'), built)
  rmSync(made, { recursive: true, force: true })
  return built
}

function hasTool(name: string): boolean {
  return spawnSync('sh', ['-c', `command -v ${name}`]).status === 0
}
