/** The whole of the tests, in one order: what is cheap first. Ends with the line `N passed, N failed`. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startEdgevpnBuild } from './edgevpn.mjs'

const work = mkdtempSync(join(tmpdir(), 'mesh-check-'))
const report = join(work, 'vitest.json')
process.env.TURBO_TELEMETRY_DISABLED = '1'
process.env.DO_NOT_TRACK = '1'

/** Every step is one test, but vitest, which counts its own. */
const build = ['build', 'turbo', ['run', 'build', 'build:addon', 'build:types', '--output-logs=errors-only']]
const rust = ['rust', 'node', ['packages/engine/scripts/check-rust.mjs']]
/** Read the sources only, beside the build. */
const ofSources = [
  ['formatted', 'biome', ['format', '.']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['import table', 'node', ['scripts/check-imports.mjs']],
  ['dead code', 'knip', []],
  ['licences', 'node', ['scripts/check-licenses.mjs']],
  ['counts of the house', 'node', ['scripts/check-house.mjs']],
  ['types', 'node', ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.json']],
]
const ofBuild = [
  ['published packages', 'node', ['scripts/check-packages.mjs']],
  ['docstrings', 'node', ['scripts/check-docstrings.mjs']],
  ['the site of the documents', 'vitepress', ['build', 'docs']],
]

const edgevpn = startEdgevpnBuild()
let passed = 0
let failed = 0
const built = runStep(build)
const checked = runChecks()
await built

/** Beside the build, and then beside the tests, which wait a lot: they get what those leave over. */
async function runChecks() {
  for (const step of ofSources) await runStep(step, constants.priority.PRIORITY_BELOW_NORMAL)
  await built
  for (const step of [...ofBuild, rust]) await runStep(step, constants.priority.PRIORITY_LOW)
}

async function runStep([name, command, args], priority = constants.priority.PRIORITY_NORMAL) {
  const began = Date.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  if (child.pid !== undefined) setPriority(child.pid, priority)
  const texts = Promise.all([text(child.stdout), text(child.stderr)])
  const status = await ended(child)
  const [stdout, stderr] = await texts
  const ok = status === 0
  if (ok) passed++
  else failed++
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
  if (!ok) console.log(`${status instanceof Error ? status.message : ''}${stdout}${stderr}`)
  for (const line of stdout.split('\n')) if (line.startsWith('skipped: ')) console.log(`     ${line}`)
}

/** Its exit code, or why it could not be started. */
function ended(child) {
  return new Promise((resolve) => child.once('error', resolve).once('close', resolve))
}

// the build is of these sources: system tests may start what people run
process.env.MESH_TEST_BUILD = '1'
const { binary, skipped: whyNoEdgevpn } = await edgevpn
if (binary === undefined) console.log(`     skipped: tests with EdgeVPN: ${whyNoEdgevpn}`)
else process.env.EDGEVPN_BIN = binary

const vitest = spawn(
  'vitest',
  ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
const vitestStatus = await ended(vitest)
let skipped = 0
try {
  const result = JSON.parse(readFileSync(report, 'utf8'))
  passed += result.numPassedTests
  failed += result.numFailedTests
  skipped += result.numPendingTests + result.numTodoTests
  const brokenFiles = result.testResults.filter(
    (file) => file.status === 'failed' && file.assertionResults.length === 0,
  )
  failed += brokenFiles.length
} catch (error) {
  console.log(`vitest left no report: ${error.message}`)
  failed++
}
if (vitestStatus !== 0 && failed === 0) failed++
await checked
rmSync(work, { recursive: true, force: true })

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 ? 0 : 1
