/** What packaging builds with beside the workspace: zig, which links for old releases of glibc, and Node of another machine. */
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, realpathSync, renameSync, rmSync } from 'node:fs'
import { delimiter, dirname, join } from 'node:path'
import { ARCHITECTURES } from './architectures.mjs'
import { isThere, output, root, show } from './commands.mjs'

const cache = join(root, 'node_modules/.cache/mesh-package')

/** The environment with `cargo zigbuild` on the path: the machine's own, or one that pip installs once into the workspace. */
function zigEnvironment() {
  if (isThere('cargo-zigbuild') && isThere('zig')) return process.env
  const environment = join(cache, 'zig')
  if (!existsSync(join(environment, 'ready'))) {
    console.log('Installing zig, which links for glibc 2.28 ...')
    rmSync(environment, { recursive: true, force: true })
    show('python3', ['-m', 'venv', environment])
    const wanted = join(root, 'packaging/toolchain/requirements.txt')
    show(join(environment, 'bin/pip'), [
      'install',
      '--quiet',
      '--disable-pip-version-check',
      '--require-hashes',
      '--only-binary=:all:',
      '--requirement',
      wanted,
    ])
    mkdirSync(join(environment, 'ready'))
  }
  return { ...process.env, PATH: [join(environment, 'bin'), process.env.PATH].join(delimiter) }
}

/** Builds the engine's addon into its platform package, where it is not there yet. @param libc `gnu`: glibc 2.28; or `musl` */
export function buildEngine(arch, libc = 'gnu') {
  const rust = ARCHITECTURES[arch].rust.replace(/gnu$/, libc)
  const script = join(root, 'packages/engine/scripts/build-addon.mjs')
  if (!output('rustc', ['--print', 'target-libdir', '--target', rust]).trim().startsWith('/'))
    throw new Error(`this Rust knows no target ${rust}`)
  if (!existsSync(output('rustc', ['--print', 'target-libdir', '--target', rust]).trim()))
    show('rustup', ['target', 'add', rust])
  show(process.execPath, [script, '--target', rust, '--portable', '--required'], { env: zigEnvironment() })
}

/** The file of the workspace's Node for this architecture, built for glibc 2.28. */
export function nodeBinary(arch) {
  const own = join(root, 'node_modules/node-runtime/bin/node')
  if (arch === process.arch) return realpathSync(own)
  const { version } = JSON.parse(readFileSync(join(root, 'node_modules/node-runtime/package.json'), 'utf8'))
  return join(fetchPackage(`node-linux-${arch}`, version), 'bin/node')
}

/**
 * The folder of a package of npm that pnpm does not install here, since it is for another machine. Its bytes are those
 * whose hash the lockfile has.
 */
export function fetchPackage(name, version) {
  const folder = join(cache, `${name.replace('/', '+')}@${version}`)
  if (existsSync(folder)) return folder
  const wanted = integrityOf(name, version)
  if (wanted === undefined) throw new Error(`pnpm-lock.yaml has no hash of ${name}@${version}`)
  mkdirSync(cache, { recursive: true })
  console.log(`Fetching ${name}@${version} ...`)
  const [{ filename }] = JSON.parse(
    output('npm', ['pack', '--json', '--pack-destination', cache, `${name}@${version}`]),
  )
  const tarball = join(cache, filename)
  const found = `sha512-${createHash('sha512').update(readFileSync(tarball)).digest('base64')}`
  if (found !== wanted)
    throw new Error(`${name}@${version} has the hash ${found}; the lockfile has ${wanted}`)
  const unpacked = `${folder}.new`
  rmSync(unpacked, { recursive: true, force: true })
  mkdirSync(unpacked, { recursive: true })
  show('tar', ['-xzf', tarball, '-C', unpacked, '--strip-components=1'])
  rmSync(tarball)
  mkdirSync(dirname(folder), { recursive: true })
  renameSync(unpacked, folder)
  return folder
}

/** Undefined for what pnpm did not find when the lockfile was made. */
export function integrityOf(name, version) {
  const lock = readFileSync(join(root, 'pnpm-lock.yaml'), 'utf8')
  const at = lock.indexOf(`\n  ${name.startsWith('@') ? `'${name}@${version}'` : `${name}@${version}`}:\n`)
  return at < 0 ? undefined : /integrity: (sha512-[\w+/=]+)/.exec(lock.slice(at, at + 400))?.[1]
}
