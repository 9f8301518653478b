/**
 * rustfmt, clippy without warnings, and the crate's tests with overflow checks and assertions on. One step of
 * `scripts/check.mjs`; without cargo it says why it does nothing and succeeds.
 */
import { spawnSync } from 'node:child_process'
import { availableParallelism } from 'node:os'
import { join, resolve } from 'node:path'

const root = resolve(import.meta.dirname, '..')
const jobs = process.env.CARGO_BUILD_JOBS ?? String(availableParallelism())
const env = { ...process.env, CARGO_BUILD_JOBS: jobs, CARGO_TARGET_DIR: join(root, 'target') }
/** `rust-version` of Cargo.toml. */
const NEEDED_MINOR = 95
/** The dependencies stay those of the addon's build, so that only this crate is compiled anew. */
const checked = ['overflow-checks', 'debug-assertions'].flatMap((check) => [
  '--config',
  `profile.release.package.mesh-engine.${check}=true`,
])
const steps = [
  ['fmt', '--check'],
  ['clippy', '--release', '--locked', '--all-targets', '--', '--deny', 'warnings'],
  ['test', '--release', '--locked', ...checked],
]

if (process.platform !== 'linux') skip('the engine is for Linux so far')
else if (spawnSync('cargo', ['--version']).status !== 0) skip('there is no cargo')
else if (rustMinor() < NEEDED_MINOR) skip(`Rust is older than 1.${NEEDED_MINOR}`)
else if (spawnSync('cc', ['--version']).status !== 0) skip('there is no C compiler')
else for (const step of steps) run(step)

function run(step) {
  if (process.exitCode !== undefined && process.exitCode !== 0) return
  const has = step[0] === 'test' || spawnSync('cargo', [step[0], '--version']).status === 0
  if (!has) return console.log(`skipped: cargo ${step[0]} is not installed`)
  const { status } = spawnSync('cargo', step, { cwd: root, stdio: 'inherit', env })
  if (status !== 0) process.exitCode = 1
}

function rustMinor() {
  const { stdout } = spawnSync('rustc', ['--version'], { encoding: 'utf8' })
  return Number(/^rustc 1\.(\d+)/.exec(stdout ?? '')?.[1] ?? 0)
}

function skip(reason) {
  console.log(`skipped: ${reason}`)
}
