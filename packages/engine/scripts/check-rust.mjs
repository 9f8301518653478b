/**
 * rustfmt, and the crate's tests, built without a warning of clippy, with overflow checks and assertions on. One step of
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
/** In both builds, so that they share the library. */
const tools = ['--features', 'tools']
/**
 * What `cargo clippy` sets for `cargo check`. Here for the tests' build: the dependencies are compiled once, and not a
 * second time for clippy alone, which took as long as all the rest.
 */
const clippy = {
  RUSTC_WORKSPACE_WRAPPER: 'clippy-driver',
  CLIPPY_ARGS: ['--deny', 'warnings', ''].join('__CLIPPY_HACKERY__'),
}

if (process.platform !== 'linux') skip('the engine is for Linux so far')
else if (spawnSync('cargo', ['--version']).status !== 0) skip('there is no cargo')
else if (rustMinor() < NEEDED_MINOR) skip(`Rust is older than 1.${NEEDED_MINOR}`)
else if (spawnSync('cc', ['--version']).status !== 0) skip('there is no C compiler')
else check()

function check() {
  const isThere = (...words) => spawnSync(words[0], [...words.slice(1), '--version']).status === 0
  if (!isThere('cargo', 'fmt')) console.log('skipped: cargo fmt is not installed')
  else if (!succeeds(['fmt', '--check'])) return
  const lints = isThere('clippy-driver')
  if (!lints) console.log('skipped: clippy is not installed')
  const flags = ['--release', '--locked', ...tools, ...checked]
  const linted = lints ? clippy : {}
  const isFine =
    succeeds(['test', ...flags, '--all-targets'], linted) &&
    // the same engines with several queues
    succeeds(['test', ...flags, '--lib', 'engine_tests'], { ...linted, MESH_TEST_QUEUES: '4' })
  // the program that tests of the node start
  if (isFine) succeeds(['build', ...flags, '--bin', 'wire-tool'], linted)
}

function succeeds(words, more = {}) {
  const { status } = spawnSync('cargo', words, { cwd: root, stdio: 'inherit', env: { ...env, ...more } })
  if (status !== 0) process.exitCode = 1
  return status === 0
}

function rustMinor() {
  const { stdout } = spawnSync('rustc', ['--version'], { encoding: 'utf8' })
  return Number(/^rustc 1\.(\d+)/.exec(stdout ?? '')?.[1] ?? 0)
}

function skip(reason) {
  console.log(`skipped: ${reason}`)
}
