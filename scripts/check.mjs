/** The whole of the tests, in one order: what is cheap first. Ends with the line `N passed, N failed`. */
import { spawn } from 'node:child_process'
import { mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { constants, setPriority, tmpdir } from 'node:os'
import { join, relative } from 'node:path'
import { text } from 'node:stream/consumers'
import { startEdgevpnBuild } from './edgevpn.mjs'

const work = mkdtempSync(join(tmpdir(), 'mesh-check-'))
const report = join(work, 'vitest.json')
process.env.TURBO_TELEMETRY_DISABLED = '1'
process.env.DO_NOT_TRACK = '1'

/** More broken files than this are no accident of a busy machine, and do not run a second time. */
const MAX_FILES_AGAIN = 6
const SLOWEST_SHOWN = 24

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

/**
 * Runs vitest with its own report.
 *
 * @returns the numbers of tests, and of the files that failed their paths and how many of their tests passed
 */
async function runTests(words) {
  const status = await ended(
    spawn('vitest', ['run', '--reporter=dot', '--reporter=json', `--outputFile.json=${report}`, ...words], {
      stdio: 'inherit',
    }),
  )
  try {
    const { testResults, numPassedTests, numFailedTests, numPendingTests, numTodoTests } = JSON.parse(
      readFileSync(report, 'utf8'),
    )
    const failedFiles = testResults.filter((file) => file.status === 'failed')
    const brokenFiles = failedFiles.filter((file) =>
      file.assertionResults.every(({ status }) => status !== 'failed'),
    )
    const failed = numFailedTests + brokenFiles.length
    showSlowest(testResults)
    return {
      passed: numPassedTests,
      // vitest also fails for an error outside of all tests
      failed: failed === 0 && status !== 0 ? 1 : failed,
      skipped: numPendingTests + numTodoTests,
      failedFiles: failedFiles.map((file) => file.name),
      passedOfFailed: failedFiles
        .flatMap((file) => file.assertionResults)
        .filter((test) => test.status === 'passed').length,
    }
  } catch (error) {
    console.log(`vitest left no report: ${error.message}`)
    return { passed: 0, failed: 1, skipped: 0, failedFiles: [], passedOfFailed: 0 }
  }
}

/** Shows where the time went: the files that took longest, beside others. */
function showSlowest(files) {
  const timed = files.map(({ name, startTime, endTime }) => ({
    name: relative(process.cwd(), name),
    seconds: (endTime - startTime) / 1000,
  }))
  const slowest = timed.sort((a, b) => b.seconds - a.seconds).slice(0, SLOWEST_SHOWN)
  console.log(`slowest: ${slowest.map(({ name, seconds }) => `${name} ${seconds.toFixed(0)} s`).join(', ')}`)
}

/**
 * Runs failed files a second time, one by one, when nothing else runs: a file that passes then failed for want of time on
 * a busy machine. It says so, so that somebody can look.
 */
async function runAgain(files) {
  if (files.length === 0) return undefined
  await checked
  console.log(`again, one by one: ${files.map((file) => relative(process.cwd(), file)).join(', ')}`)
  const second = await runTests(['--no-file-parallelism', ...files])
  console.log(`${files.length - second.failedFiles.length} of ${files.length} files passed the second time`)
  return second
}

// the build is of these sources: system tests may start what people run
process.env.MESH_TEST_BUILD = '1'
const { binary, skipped: whyNoEdgevpn } = await edgevpn
if (binary === undefined) console.log(`     skipped: tests with EdgeVPN: ${whyNoEdgevpn}`)
else process.env.EDGEVPN_BIN = binary

const first = await runTests(process.argv.slice(2))
const again = first.failedFiles.length <= MAX_FILES_AGAIN ? await runAgain(first.failedFiles) : undefined
passed += first.passed + (again?.passed ?? 0) - (again === undefined ? 0 : first.passedOfFailed)
failed += again?.failed ?? first.failed
const skipped = first.skipped
await checked
rmSync(work, { recursive: true, force: true })

console.log(`${passed} passed, ${failed} failed${skipped > 0 ? `, ${skipped} skipped` : ''}`)
process.exitCode = failed === 0 ? 0 : 1
