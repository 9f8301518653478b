/**
 * `npm run soak -- [ATTACK...] [--minutes N] [--nodes N] [--json]`: a network of real nodes under churn, writes and
 * hostile traffic, which is all attacks in turn or those named; ends with 1 when memory grew, a node failed, a write was
 * lost or the ledgers differ. See README.md.
 */
import { SCENARIOS } from '../attack/scenarios.ts'
import { runSoak } from './run-soak.ts'
import { cleanUpWhenInterrupted } from '../interruption.ts'
import { readToolOptions } from '../tool-options.ts'

cleanUpWhenInterrupted()

const USAGE = `npm run soak -- [ATTACK...] [--minutes N] [--nodes N] [--json]

ATTACK        attacks that go on meanwhile; all in turn unless named (npm run attack -- --list)
--minutes N   up to 1440 (default: 10)
--nodes N     4 to 100 (default: 20)
--json        the figures as JSON`

const { values, positionals } = readToolOptions(USAGE, {
  minutes: { type: 'string', default: '10' },
  nodes: { type: 'string', default: '20' },
  json: { type: 'boolean', default: false },
})
const [minutes, nodes] = [Number(values.minutes), Number(values.nodes)]
if (!(minutes > 0 && minutes <= 1_440 && Number.isInteger(nodes) && nodes >= 4 && nodes <= 100)) {
  console.error('--minutes takes up to 1440, --nodes 4 to 100')
  process.exit(2)
}
const unknown = positionals.find((name) => !SCENARIOS.some((scenario) => scenario.name === name))
if (unknown !== undefined) {
  console.error(`no attack ${unknown}; \`npm run attack -- --list\` names them`)
  process.exit(2)
}
const result = await runSoak({
  minutes,
  nodes,
  ...(positionals.length > 0 && { attacks: positionals }),
  onProgress: (line) => process.stderr.write(`${line}\n`),
})
if (values.json) console.log(JSON.stringify(result, null, 2))
else for (const [name, value] of Object.entries(result)) console.log(`${name.padEnd(12)} ${String(value)}`)
process.exit(result.broke === undefined ? 0 : 1)
