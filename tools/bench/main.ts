/**
 * `npm run bench -- [NAME...]`: measures what the README promises, as ratios against a reference of the same run where
 * there is one, and prints JSON. `vpn.PART` is one part of a measure that has several. Progress goes to standard error.
 * The built node is measured: run `npm run setup` first.
 */
import { existsSync } from 'node:fs'
import { cpus } from 'node:os'
import { join } from 'node:path'
import { measureCrypto } from '../../packages/ledger/bench/measure-crypto.ts'
import { measurePut } from '../../packages/ledger/bench/measure-put.ts'
import { measureBurst } from './burst.ts'
import { measureDelay } from './delay.ts'
import { measureDns } from './dns.ts'
import { measureFiles } from './files.ts'
import { measureFailover } from './failover.ts'
import { FLEET_SIZES, measureFleet } from './fleet/measure-fleet.ts'
import { measureHttp } from './http.ts'
import { measureIdle } from './idle.ts'
import { recordRun } from './history.ts'
import { measureMemory } from './memory.ts'
import { measureOrbitDb } from './orbitdb.ts'
import { measurePage } from './page.ts'
import { measureRules } from './rules.ts'
import { measureServices } from './services.ts'
import { measureSizes } from './sizes.ts'
import { measureStartup } from './startup.ts'
import { measureVpn, VPN_PARTS } from './vpn/measure-vpn.ts'
import { cleanUpWhenInterrupted } from '../interruption.ts'
import { readToolOptions } from '../tool-options.ts'

cleanUpWhenInterrupted()

const MEASURES: Readonly<Record<string, (parts: readonly string[]) => unknown>> = {
  crypto: () => measureCrypto(),
  put: async () => ({ ours: await measurePut([1_000, 10_000, 100_000]), orbitdb: await measureOrbitDb() }),
  burst: measureBurst,
  delay: measureDelay,
  http: measureHttp,
  dns: measureDns,
  startup: measureStartup,
  memory: measureMemory,
  idle: () => measureIdle(),
  fleet: measureFleet,
  vpn: measureVpn,
  rules: () => measureRules(),
  files: measureFiles,
  services: measureServices,
  failover: measureFailover,
  page: measurePage,
  sizes: measureSizes,
}

/** The parts of a measure that can be asked for alone. */
const PARTS: Readonly<Record<string, readonly string[]>> = {
  vpn: VPN_PARTS,
  fleet: FLEET_SIZES,
}

const PART_NAMES = Object.entries(PARTS).flatMap(([of, all]) => all.map((each) => `${of}.${each}`))
const USAGE = `npm run bench -- [NAME...] [--record]

NAME   ${Object.keys(MEASURES).join(', ')}: all of them unless named
       or one part of them: ${PART_NAMES.join(', ')}
--record   keeps the figures in bench/history.jsonl, which the site draws

Prints JSON; progress goes to standard error.`

const { positionals, values } = readToolOptions(USAGE, { record: { type: 'boolean', default: false } })
const asked = positionals.map((word) => {
  const [name = '', part] = word.split('.')
  const isKnown = name in MEASURES && (part === undefined || PARTS[name]?.includes(part) === true)
  if (!isKnown) {
    console.error(`no measure ${word}; there are ${[...Object.keys(MEASURES), ...PART_NAMES].join(', ')}`)
    process.exit(2)
  }
  return { name, part }
})
if (!existsSync(join(import.meta.dirname, '../../apps/node/dist/main.js'))) {
  console.error('the node is not built: run `npm run setup` first')
  process.exit(1)
}
const results: Record<string, unknown> = { node: process.version, cores: cpus().length }
for (const [name, measure] of Object.entries(MEASURES)) {
  const own = asked.filter((each) => each.name === name)
  if (asked.length > 0 && own.length === 0) continue
  const parts = own.every(({ part }) => part !== undefined) ? own.flatMap(({ part }) => part ?? []) : []
  process.stderr.write(`${name} ...\n`)
  const began = performance.now()
  try {
    results[name] = await measure(parts)
  } catch (error) {
    results[name] = { failed: error instanceof Error ? error.message : String(error) }
    process.exitCode = 1
  }
  process.stderr.write(`${name}: ${((performance.now() - began) / 1000).toFixed(0)} s\n`)
}
if (values.record === true) recordRun(results)
console.log(JSON.stringify(results, null, 2))
process.exit()
