/**
 * The test suites of EdgeVPN's Go client, built from a copy of its repository and kept in the cache folder, so that a
 * machine builds them once. Nothing is fetched but Go modules.
 */
import { spawnSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { delimiter, join, resolve } from 'node:path'

/** EdgeVPN 0.35.4. */
const COMMIT = '97f8fed2e7c8146e95d6b3c6c75cf49228c14a6e'
const PACKAGES = ['./api/client', './api/client/service'] as const
const BUILD_TIMEOUT_MS = 600_000
/** Where Go is installed where no path leads to it. */
const GO_FOLDER = '/usr/local/go/bin'
const PATH = [process.env['PATH'] ?? '', GO_FOLDER].join(delimiter)
const ROOT = resolve(import.meta.dirname, '../../..')

function findRepository(): string | undefined {
  const given = process.env['EDGEVPN_REPOSITORY'] ?? ''
  const places =
    given === '' ? ['../edgevpn', '../edgevpn.git'].map((place) => resolve(ROOT, place)) : [given]
  return places.find((place) => existsSync(place))
}

/** Undefined when the suites can be run here, else the reason why not and what to do. */
export function whyNoGoClient(): string | undefined {
  if (findRepository() === undefined) {
    return 'EDGEVPN_REPOSITORY names no copy of its git repository, and there is none at ../edgevpn'
  }
  const { status } = spawnSync('go', ['version'], { env: { PATH, HOME: homedir() } })
  return status === 0 ? undefined : 'go is not installed'
}

/** Builds the suites, or takes those that were built before. @throws Error with what Go says */
export function buildGoClientSuites(): readonly string[] {
  const cache = join(process.env['XDG_CACHE_HOME'] ?? join(homedir(), '.cache'), 'mesh')
  mkdirSync(cache, { recursive: true })
  const files = PACKAGES.map((_, at) => join(cache, `edgevpn-client-${COMMIT.slice(0, 12)}-${at}`))
  if (files.every((file) => existsSync(file))) return files
  const work = mkdtempSync(join(tmpdir(), 'mesh-go-client-'))
  try {
    run('git', ['clone', '--quiet', '--no-checkout', findRepository() ?? '', 'src'], work)
    const source = join(work, 'src')
    run('git', ['checkout', '--quiet', COMMIT], source)
    // the client imports the server, which embeds a page that is built by other tools
    mkdirSync(join(source, 'api/react-ui/dist/assets'), { recursive: true })
    writeFileSync(join(source, 'api/react-ui/dist/index.html'), '')
    writeFileSync(join(source, 'api/react-ui/dist/assets/none.js'), '')
    // its fork of the pubsub library cannot be had from the proxy; the client does not use it
    run('go', ['mod', 'edit', '-dropreplace', 'github.com/libp2p/go-libp2p-pubsub'], source)
    run('go', ['mod', 'tidy'], source)
    for (const [at, file] of files.entries()) {
      run('go', ['test', '-c', '-o', `${file}.${process.pid}`, PACKAGES[at] ?? ''], source)
      renameSync(`${file}.${process.pid}`, file)
    }
    return files
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
  if (status === 0) return
  throw new Error(`${file} ${args.join(' ')} failed: ${error?.message ?? stderr.slice(-2_000)}`)
}
