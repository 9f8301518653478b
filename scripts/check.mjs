/** The whole of the tests, in one order: what is cheap first. Ends with the line `N passed, N failed`. */
import { spawn, spawnSync } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { startEdgevpnBuild } from './edgevpn.mjs'

const work = mkdtempSync(join(tmpdir(), 'mesh-check-'))
const report = join(work, 'vitest.json')
process.env.TURBO_TELEMETRY_DISABLED = '1'
process.env.DO_NOT_TRACK = '1'

/** Every step is one test, but vitest, which counts its own. `rust` takes longest, and the others run beside it. */
const beside = ['rust', 'node', ['packages/engine/scripts/check-rust.mjs']]
const steps = [
  ['formatted', 'biome', ['format', '.']],
  ['lint', 'oxlint', ['--type-aware', '--deny-warnings']],
  ['import table', 'node', ['scripts/check-imports.mjs']],
  ['dead code', 'knip', []],
  ['types', 'node', ['node_modules/typescript-native/bin/tsc', '-p', 'tsconfig.json']],
  ['build', 'turbo', ['run', 'build', 'build:addon', 'build:types', '--output-logs=errors-only']],
  ['published packages', 'node', ['scripts/check-packages.mjs']],
  ['docstrings', 'node', ['scripts/check-docstrings.mjs']],
]

const edgevpn = startEdgevpnBuild()
let passed = 0
let failed = 0
const rust = runStep(beside)
for (const step of steps) await runStep(step)
await rust

async function runStep([name, command, args]) {
  const began = Date.now()
  const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
  const texts = Promise.all([text(child.stdout), text(child.stderr)])
  const status = await new Promise((resolve) => child.once('error', resolve).once('close', resolve))
  const [stdout, stderr] = await texts
  const ok = status === 0
  if (ok) passed++
  else failed++
  console.log(`${ok ? 'ok  ' : 'FAIL'} ${name} (${((Date.now() - began) / 1000).toFixed(1)} s)`)
  if (!ok) console.log(`${status instanceof Error ? status.message : ''}${stdout}${stderr}`)
  for (const line of stdout.split('\n')) if (line.startsWith('skipped: ')) console.log(`     ${line}`)
}

// the build is of these sources: system tests may start what people run
process.env.MESH_TEST_BUILD = '1'
const { binary, skipped: whyNoEdgevpn } = await edgevpn
if (binary === undefined) console.log(`     skipped: tests with EdgeVPN: ${whyNoEdgevpn}`)
else process.env.EDGEVPN_BIN = binary

const vitest = spawnSync(
  'vitest',
  ['run', '--reporter=default', '--reporter=json', `--outputFile.json=${report}`, ...process.argv.slice(2)],
  { stdio: 'inherit' },
)
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
if (vitest.status !== 0 && failed === 0) failed++
rmSync(work, { recursive: true, force: true })

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 ? 0 : 1
