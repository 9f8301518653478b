/**
 * Builds the addon for this machine into its platform package, `npm/PLATFORM/mesh-engine.node`. Does nothing when
 * neither the sources nor the compiler have changed since, or when there is no cargo: everything but the interface
 * works without it. `--target aarch64-unknown-linux-gnu` builds for another machine (needs `rustup target add` and
 * that machine's gcc; for musl cargo-zigbuild and zig), `--required` makes a missing cargo an error. `--portable` links for glibc 2.28 with cargo-zigbuild,
 * and needs `--target`: others load what it makes. `--check` builds nothing and says what a build would come to. The last line of standard output begins with `engine addon: ` and says what came out.
 */
import { spawn, spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { copyFileSync, existsSync, readdirSync, readFileSync, renameSync, writeFileSync } from 'node:fs'
import { availableParallelism, homedir } from 'node:os'
import { join, resolve } from 'node:path'
import { parseArgs } from 'node:util'

const root = resolve(import.meta.dirname, '..')
const PLATFORMS = {
  'x86_64-unknown-linux-gnu': 'linux-x64-gnu',
  'aarch64-unknown-linux-gnu': 'linux-arm64-gnu',
  'x86_64-unknown-linux-musl': 'linux-x64-musl',
  'aarch64-unknown-linux-musl': 'linux-arm64-musl',
}
const { values } = parseArgs({
  options: {
    target: { type: 'string' },
    portable: { type: 'boolean', default: false },
    required: { type: 'boolean' },
    check: { type: 'boolean' },
  },
})

const compiler = spawnSync('rustc', ['-vV'], { encoding: 'utf8' })
const hasCargo = compiler.status === 0 && spawnSync('cargo', ['--version']).status === 0
const host = /host: (\S+)/.exec(compiler.stdout ?? '')?.[1]
const target = values.target ?? host
const platform = PLATFORMS[target]
/** zig is the C compiler and the linker. */
const isForMusl = target?.endsWith('-musl') === true && target !== host

/** Apart from the other builds', whose objects have other flags. */
const targetFolder = join(root, values.portable ? 'target/portable' : 'target')

/** The oldest glibc that loads a portable addon: the one that Node's own builds need. */
const GLIBC = '2.28'

/** `1.95` of Cargo.toml's `rust-version`. */
const needed = /^rust-version = "([\d.]+)"/m.exec(readFileSync(join(root, 'Cargo.toml'), 'utf8'))?.[1] ?? ''

if (process.platform !== 'linux') skip('it is for Linux so far')
else if (!hasCargo) skip(`cargo (Rust ${needed} or later) was not found; install it from https://rustup.rs`)
else if (isOlder(compiler.stdout, needed)) skip(`this Rust is older than ${needed}; run rustup update`)
else if (platform === undefined) skip(`there is no platform package for ${target} yet`)
else if (!hasCompiler()) skip('there is no C compiler (cc), which links it; install gcc or clang')
else await build()

async function build() {
  const addon = join(root, 'npm', platform, 'mesh-engine.node')
  const stampFile = join(root, 'npm', platform, 'mesh-engine.stamp')
  const stamp = hashOfSources(values.portable)
  // what is portable runs here too
  const isCurrent = (text) => text === stamp || text === hashOfSources(true)
  if (existsSync(addon) && existsSync(stampFile) && isCurrent(readFileSync(stampFile, 'utf8'))) {
    console.log(`engine addon: unchanged (${platform})`)
    return
  }
  if (values.check) {
    console.log(`engine addon: not built yet (${platform})`)
    return
  }
  console.log(`engine addon: building for ${platform} (one to three minutes the first time)`)
  const jobs = process.env.CARGO_BUILD_JOBS ?? String(availableParallelism())
  const wanted = values.portable && !isForMusl ? `${target}.${GLIBC}` : target
  const cargo = [
    values.portable || isForMusl ? 'zigbuild' : 'build',
    '--release',
    '--locked',
    '--jobs',
    jobs,
    ...(values.target ? ['--target', wanted] : []),
  ]
  if ((await runCargo(cargo)) !== 0) {
    // a machine without a C compiler still gets everything but the interface
    if (values.required) process.exit(1)
    console.log('engine addon: not built: its compilation failed (cargo says above why); mend that')
    return
  }
  const built = join(targetFolder, values.target ?? '', 'release', 'libmesh_engine.so')
  // by rename, so that a running node keeps the file that it has loaded
  copyFileSync(built, `${addon}.new`)
  renameSync(`${addon}.new`, addon)
  writeFileSync(stampFile, stamp)
  console.log(`engine addon: built (${platform})`)
}

/** Its exit code; it ends with this process. */
function runCargo(words) {
  const child = spawn('cargo', words, {
    cwd: root,
    stdio: 'inherit',
    env: {
      ...(values.portable || isForMusl ? { RUSTFLAGS: portableFlags() } : crossLinker()),
      ...process.env,
      CARGO_TARGET_DIR: targetFolder,
    },
  })
  process.once('SIGTERM', () => child.kill())
  return new Promise((resolve) => {
    child.once('error', () => resolve(1))
    child.once('exit', resolve)
  })
}

function isOlder(versionText, wanted) {
  const [, major, minor] = /^release: (\d+)\.(\d+)/m.exec(versionText) ?? []
  const [wantedMajor, wantedMinor] = wanted.split('.').map(Number)
  return Number(major) < wantedMajor || (Number(major) === wantedMajor && Number(minor) < wantedMinor)
}

/** cargo links by it; another machine's is looked for by its own name. */
function hasCompiler() {
  return target !== host || process.env.CC !== undefined || spawnSync('cc', ['--version']).status === 0
}

/** Debian's name for the linker of another machine (package gcc-aarch64-linux-gnu). */
function crossLinker() {
  if (target === host) return {}
  const name = `CARGO_TARGET_${target.toUpperCase().replaceAll('-', '_')}_LINKER`
  return { [name]: `${target.replace('-unknown-', '-')}-gcc` }
}

/**
 * Flags with which the addon holds no folder of this machine: two machines build the same bytes. One for musl shares it with
 * Node; Rust would link its own copy.
 */
function portableFlags() {
  const cargoHome = process.env.CARGO_HOME ?? join(homedir(), '.cargo')
  const paths = `--remap-path-prefix=${cargoHome}=/cargo --remap-path-prefix=${root}=/engine`
  return isForMusl ? `${paths} -C target-feature=-crt-static` : paths
}

function hashOfSources(isPortable) {
  const hash = createHash('sha256').update(compiler.stdout).update(target)
  if (isPortable) hash.update(GLIBC)
  const native = readdirSync(join(root, 'native'), { recursive: true, encoding: 'utf8' })
  const sources = native.filter((path) => path.endsWith('.rs')).map((path) => join('native', path))
  const files = ['Cargo.toml', 'Cargo.lock', 'build.rs', ...sources.sort()]
  for (const file of files)
    hash
      .update(file)
      .update('\0')
      .update(readFileSync(join(root, file)))
  return hash.digest('hex')
}

/** One that stands already is kept: it works, though nobody can say here whether it is of these sources. */
function skip(reason) {
  const own = values.target === undefined ? `linux-${process.arch}-gnu` : platform
  const isThere = process.platform === 'linux' && existsSync(join(root, 'npm', own, 'mesh-engine.node'))
  console.log(isThere ? `engine addon: kept (${own}): ${reason}` : `engine addon: not built: ${reason}`)
  if (values.required) process.exit(1)
}
