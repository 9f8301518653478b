/** Projects of users: the packages as they are published, installed by npm in an empty folder. */
import { execFile } from 'node:child_process'
import { mkdirSync, readdirSync, readFileSync, statSync, writeFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import { promisify } from 'node:util'

const run = promisify(execFile)
const root = resolve(import.meta.dirname, '../../..')

/** Packs every published package into the folder. @returns the tarballs that npm installs on this machine */
export async function packAll(folder: string): Promise<readonly string[]> {
  const { stdout } = await run(process.execPath, [join(root, 'scripts/pack-packages.mjs'), folder])
  const ofOthers = new RegExp(`/mesh-engine-linux-(?!${process.arch}-gnu)`)
  return stdout
    .trim()
    .split('\n')
    .filter((file) => !ofOthers.test(file))
}

/** Is the tarball that of `@mesh/NAME`? */
export function isTarballOf(name: string, file: string): boolean {
  return file.includes(`/mesh-${name}-0`)
}

/** Makes the folder a project with nothing but these packages: tarballs, or names with versions. */
export async function installInto(folder: string, packages: readonly string[]): Promise<void> {
  mkdirSync(folder)
  writeFileSync(join(folder, 'package.json'), '{ "name": "user", "private": true, "type": "module" }')
  const options = ['--no-audit', '--no-fund', '--prefer-offline', '--loglevel=error', '--fetch-retries=1']
  await run('npm', ['install', ...options, ...packages], { cwd: folder })
}

/** What npm says when there is no registry, or not all is in its cache. */
const NO_REGISTRY = /ENOTFOUND|EAI_AGAIN|ECONNREFUSED|ECONNRESET|ETIMEDOUT|ENOTCACHED|ENETUNREACH|network/

/** Undefined where an installation worked; why npm reached no registry. Rejects with what else kept it. */
export async function whyUnreachable(installed: Promise<unknown>): Promise<string | undefined> {
  try {
    await installed
    return undefined
  } catch (error) {
    if (!NO_REGISTRY.test(String(error))) throw error
    return `npm reaches no registry: ${String(error).split('\n')[1] ?? ''}`
  }
}

/** Names of the packages and megabytes (1,000,000 bytes) below node_modules. */
export function measure(folder: string): { names: readonly string[]; megabytes: number } {
  const files = readdirSync(join(folder, 'node_modules'), { recursive: true, withFileTypes: true })
  const bytes = files
    .filter((file) => file.isFile())
    .reduce((sum, { parentPath, name }) => sum + statSync(join(parentPath, name)).size, 0)
  const lock = JSON.parse(readFileSync(join(folder, 'node_modules/.package-lock.json'), 'utf8'))
  const names = Object.keys(lock.packages).map((path) => path.replace(/^.*node_modules\//, ''))
  return { names, megabytes: Math.ceil(bytes / 1_000_000) }
}
