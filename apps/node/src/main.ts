#!/usr/bin/env node
/** The entry of the process: checks Node, turns on the cache of compiled code, loads only what is needed. */
import module from 'node:module'
import { homedir } from 'node:os'
import { join } from 'node:path'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 22) {
  process.stderr.write(`mesh needs Node 22.18 or later (26 is best); this is Node ${process.versions.node}\n`)
  process.exit(1)
}
// in the person's own folder: a cache in a shared one could be written by others
const { NODE_COMPILE_CACHE, XDG_CACHE_HOME } = process.env
module.enableCompileCache(
  NODE_COMPILE_CACHE || join(XDG_CACHE_HOME || join(homedir(), '.cache'), 'mesh', 'compiled'),
)
const { main } = await import('./cli/main.ts')
await main()
