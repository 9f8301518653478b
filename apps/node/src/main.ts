#!/usr/bin/env node
/** The entry of the process: checks Node, turns on the cache of compiled code, loads only what is needed. */
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'
import { makeFolder } from './files/make-folder.ts'

const [major = 0, minor = 0] = process.versions.node.split('.').map(Number)
if (major < 22 || (major === 22 && minor < 18)) {
  process.stderr.write(`mesh needs Node 22.18 or later (26 is best); this is Node ${process.versions.node}\n`)
  process.exit(1)
}
// Node 22 and 24 warn that SQLite is experimental: nobody who runs a node can do anything about that
const [printWarning] = process.listeners('warning')
process.removeAllListeners('warning').on('warning', (warning) => {
  if (warning.name !== 'ExperimentalWarning') printWarning?.(warning)
})
// in the person's own folder: a cache in a shared one could be written by others
const { NODE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env
try {
  // whom the service manager makes up for a service has no folder of its own, and asking for it throws
  const cache = NODE_COMPILE_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'mesh', 'compiled')
  // Node would make it too, and not come back where a file system cannot make folders
  makeFolder(cache)
  module.enableCompileCache(cache)
} catch {
  // without one, every start compiles
}
if (process.getBuiltinModule('node:sea').isSea()) {
  const { prepareExecutable } = await import('./executable/prepare-executable.ts')
  prepareExecutable(import.meta.url)
}
const { main } = await import('./cli/main.ts')
await main()
