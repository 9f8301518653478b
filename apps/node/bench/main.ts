/**
 * `npm run bench -- [NAME...]`: measures what the README promises, as ratios against a reference of the same run where
 * there is one, and prints JSON. Progress goes to standard error. The built node is measured: run `npm run setup` first.
 */
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { measureCrypto } from '../../../packages/ledger/bench/measure-crypto.ts'
import { measurePut } from '../../../packages/ledger/bench/measure-put.ts'
import { measureBurst } from './burst.ts'
import { measureDelay } from './delay.ts'
import { measureDns } from './dns.ts'
import { measureFiles } from './files.ts'
import { measureHttp } from './http.ts'
import { measureIdle } from './idle.ts'
import { measureMemory } from './memory.ts'
import { measureOrbitDb } from './orbitdb.ts'
import { measureServices } from './services.ts'
import { measureStartup } from './startup.ts'
import { measureVpn } from './vpn.ts'

const MEASURES: Readonly<Record<string, () => unknown>> = {
  crypto: () => measureCrypto(),
  put: async () => ({ ours: await measurePut([1_000, 10_000, 100_000]), orbitdb: await measureOrbitDb() }),
  burst: measureBurst,
  delay: measureDelay,
  http: measureHttp,
  dns: measureDns,
  startup: measureStartup,
  memory: measureMemory,
  idle: () => measureIdle(),
  vpn: () => measureVpn(),
  files: measureFiles,
  services: measureServices,
}

const names = process.argv.slice(2)
const unknown = names.find((name) => !(name in MEASURES))
if (unknown !== undefined) {
  console.error(`no measure ${unknown}; there are ${Object.keys(MEASURES).join(', ')}`)
  process.exit(2)
}
if (!existsSync(join(import.meta.dirname, '../dist/main.js'))) {
  console.error('the node is not built: run `npm run setup` first')
  process.exit(1)
}
const results: Record<string, unknown> = { node: process.version, cores: cpus().length }
for (const [name, measure] of Object.entries(MEASURES)) {
  if (names.length > 0 && !names.includes(name)) continue
  process.stderr.write(`${name} ...\n`)
  const began = performance.now()
  try {
    results[name] = await measure()
  } catch (error) {
    results[name] = { failed: error instanceof Error ? error.message : String(error) }
    process.exitCode = 1
  }
  process.stderr.write(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
}
console.log(JSON.stringify(results, null, 2))
process.exit()
