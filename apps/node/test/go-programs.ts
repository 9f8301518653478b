/**
 * Go programs for the interop suites, built from copies of public repositories and kept in the cache folder, so that a
 * machine builds them once. Nothing is fetched but Go modules.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import {
  copyFileSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, dirname, join, resolve } from 'node:path'

const BUILD_TIMEOUT_MS = 900_000
/** Where Go is installed where no path leads to it. */
const GO_FOLDER = '/usr/local/go/bin'
const PATH = [process.env['PATH'] ?? '', GO_FOLDER].join(delimiter)
const ROOT = resolve(import.meta.dirname, '../../..')

/** A program, and the copy of a repository that it is built in. */
export interface GoProgram {
  /** Its name in the cache folder. */
  readonly name: string
  /** Names the copy; else it is looked for beside the checkout, as `folder`. */
  readonly variable: string
  readonly folder: string
  readonly commit: string
  /** A Go file of `test/go`, which becomes the main package of a folder of the copy. */
  readonly main?: string
  /** A package of the copy whose test suite is built in place of a program. */
  readonly suite?: string
  /** Files that the packages embed, and that other tools make. */
  readonly stubs?: readonly string[]
  /** Replacements of modules that cannot be had from the proxy. */
  readonly dropped?: readonly string[]
  /** Other versions of such modules, as `module=module@version`. */
  readonly replaced?: readonly string[]
}

const MAIN_FOLDER = 'cmd/mesh-interop'

function findRepository({ variable, folder }: GoProgram): string | undefined {
  const given = process.env[variable] ?? ''
  const places = given === '' ? [folder, `${folder}.git`].map((name) => resolve(ROOT, '..', name)) : [given]
  return places.find((place) => existsSync(place))
}

/** Undefined when the program can be built here, else the reason why not and what to do. */
export function whyNoGoProgram(program: GoProgram): string | undefined {
  const { variable, folder } = program
  if (findRepository(program) === undefined) {
    return `${variable} names no copy of its git repository, and there is none at ../${folder}`
  }
  const { status } = spawnSync('go', ['version'], { env: { PATH, HOME: homedir() } })
  return status === 0 ? undefined : 'go is not installed'
}

/** Builds a program, or takes the one that was built before. @throws Error with what Go says */
export function buildGoProgram(program: GoProgram): string {
  const { name, commit, main, suite, stubs = [], dropped = [], replaced = [] } = program
  const source = main === undefined ? undefined : join(import.meta.dirname, 'go', main)
  const mark = createHash('sha256').update(commit)
  if (source !== undefined) mark.update(readFileSync(source))
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'mesh')
  const built = join(cache, `${name}-${mark.digest('hex').slice(0, 12)}`)
  if (existsSync(built)) return built
  mkdirSync(cache, { recursive: true })
  const work = mkdtempSync(join(tmpdir(), 'mesh-go-'))
  try {
    run('git', ['clone', '--quiet', '--no-checkout', findRepository(program) ?? '', 'src'], work)
    const copy = join(work, 'src')
    run('git', ['checkout', '--quiet', commit], copy)
    for (const stub of stubs) {
      mkdirSync(dirname(join(copy, stub)), { recursive: true })
      writeFileSync(join(copy, stub), '')
    }
    for (const module of dropped) run('go', ['mod', 'edit', '-dropreplace', module], copy)
    for (const module of replaced) run('go', ['mod', 'edit', '-replace', module], copy)
    if (dropped.length > 0) run('go', ['mod', 'tidy'], copy)
    if (source !== undefined) {
      mkdirSync(join(copy, MAIN_FOLDER), { recursive: true })
      copyFileSync(source, join(copy, MAIN_FOLDER, 'main.go'))
    }
    const made = `${built}.${process.pid}`
    const words = suite === undefined ? ['build'] : ['test', '-c']
    run('go', [...words, '-mod=mod', '-o', made, suite ?? `./${MAIN_FOLDER}`], copy)
    renameSync(made, built)
    return built
  } finally {
    rmSync(work, { recursive: true, force: true })
  }
}

function run(file: string, args: readonly string[], cwd: string): void {
  const { GOPROXY, GOFLAGS, GOSUMDB, SSL_CERT_FILE } = process.env
  const { status, stderr, error } = spawnSync(file, args, {
    cwd,
    env: { PATH, HOME: homedir(), GOPROXY, GOFLAGS, GOSUMDB, SSL_CERT_FILE },
    encoding: 'utf8',
    timeout: BUILD_TIMEOUT_MS,
  })
  if (status !== 0) throw new Error(`${file} ${args.join(' ')}: ${error?.message ?? stderr.slice(-2_000)}`)
}
