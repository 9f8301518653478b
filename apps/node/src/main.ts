#!/usr/bin/env node
/** The entry of the process: checks Node, turns on the compile cache, and loads only what the command needs. */
import { enableCompileCache } from 'node:module'

const [major = 0] = process.versions.node.split('.').map(Number)
if (major < 22) {
  process.stderr.write(`mesh needs Node 22.18 or later (26 is best); this is ${process.versions.node}\n`)
  process.exit(1)
}
enableCompileCache()
const { main } = await import('./cli/main.ts')
await main()
