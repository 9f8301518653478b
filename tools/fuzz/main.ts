/**
 * `npm run fuzz -- [NAME...] [--minutes N] [--seed N] [--list]`: mutated messages and random bytes for every decoder of the
 * node, in rounds with a new seed each, until the time is over or one fails. See README.md.
 */
import { randomInt } from 'node:crypto'
import { stopDecoders } from './decoder.ts'
import { openDecoders } from './decoders.ts'
import { runFuzz } from './run-fuzz.ts'
import { cleanUpWhenInterrupted } from '../interruption.ts'
import { readNumber, readToolOptions } from '../tool-options.ts'

cleanUpWhenInterrupted()

const RUNS_PER_ROUND = 1_000

const USAGE = `npm run fuzz -- [NAME...] [--minutes N] [--seed N]
npm run fuzz -- --list

NAME          decoders; all of them unless named
--minutes N   for how long (default: 1)
--seed N      repeats a run that failed
--list        the names`

const { values, positionals } = readToolOptions(USAGE, {
  minutes: { type: 'string', default: '1' },
  seed: { type: 'string' },
  list: { type: 'boolean', default: false },
})
const minutes = readNumber('--minutes', values.minutes)
const firstSeed = values.seed === undefined ? undefined : readNumber('--seed', values.seed)
const all = await openDecoders()
if (values.list) {
  for (const { name, form } of all) console.log(`${name} (${form})`)
  await stopDecoders(all)
  process.exit()
}
const unknown = positionals.find((name) => !all.some((decoder) => decoder.name === name))
if (unknown !== undefined) {
  console.error(`no decoder ${unknown}; --list names them`)
  process.exit(2)
}
const decoders = all.filter(({ name }) => positionals.length === 0 || positionals.includes(name))
const end = performance.now() + minutes * 60_000
const totals = new Map<string, number>()
let failed = false
for (let round = 0; !failed && (round === 0 || performance.now() < end); round++) {
  const seed = firstSeed === undefined ? randomInt(2 ** 31) : firstSeed + round
  for (const decoder of decoders) {
    const [result] = await runFuzz({ decoders: [decoder], runs: RUNS_PER_ROUND, seed })
    if (result === undefined) continue
    totals.set(result.name, (totals.get(result.name) ?? 0) + result.runs)
    if (result.failure === undefined) continue
    failed = true
    console.error(`${result.name}: ${result.failure}`)
  }
}
for (const [name, runs] of totals) console.log(`${name.padEnd(28)} ${runs} inputs`)
await stopDecoders(all)
process.exit(failed ? 1 : 0)
