/**
 * The EdgeVPN binary for the interop suites: what `EDGEVPN_BIN` names, or one that is built once from a copy of its
 * public repository and kept in the cache folder. Nothing is fetched but Go modules.
 */
import { spawn } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, mkdirSync, readFileSync, renameSync } from 'node:fs'
import { homedir } from 'node:os'
import { join, resolve } from 'node:path'

const BUILD_TIMEOUT_MS = 900_000
const root = resolve(import.meta.dirname, '..')
/** Beside the checkout: the script that builds it, and where a copy of the repository may be. */
const BUILD_SCRIPT = resolve(root, '../shared/tools/build-edgevpn')
const REPOSITORIES = ['../edgevpn', '../edgevpn.git']
const HOW =
  'set EDGEVPN_BIN to an EdgeVPN 0.35 binary, or EDGEVPN_REPOSITORY to a git copy of its repository with go and ../shared/tools/build-edgevpn at hand'

/**
 * Begins to build where that is needed; a build runs beside other steps.
 * @returns what resolves with the binary, or with why there is none and how to get one; it never rejects
 */
export function startEdgevpnBuild() {
  const given = process.env.EDGEVPN_BIN
  if (given)
    return Promise.resolve(
      existsSync(given) ? { binary: given } : { skipped: `EDGEVPN_BIN names no file: ${given}` },
    )
  const repository = findRepository()
  if (repository === undefined || !existsSync(BUILD_SCRIPT)) return Promise.resolve({ skipped: HOW })
  const binary = join(cacheFolder(), `edgevpn-${fingerprint()}`)
  if (existsSync(binary)) return Promise.resolve({ binary })
  return build(repository, binary)
}

function findRepository() {
  const given = process.env.EDGEVPN_REPOSITORY
  const places = given ? [resolve(given)] : REPOSITORIES.map((place) => resolve(root, place))
  return places.find((place) => existsSync(place))
}

function cacheFolder() {
  const folder = join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'mesh')
  mkdirSync(folder, { recursive: true })
  return folder
}

/** Another script builds another binary. */
function fingerprint() {
  return createHash('sha256').update(readFileSync(BUILD_SCRIPT)).digest('hex').slice(0, 12)
}

function build(repository, binary) {
  // a build that is cut off leaves no binary under the name that is looked for
  const made = `${binary}.${process.pid}`
  const child = spawn('bash', [BUILD_SCRIPT, repository, made], {
    stdio: ['ignore', 'ignore', 'pipe'],
    timeout: BUILD_TIMEOUT_MS,
  })
  let errors = ''
  child.stderr.setEncoding('utf8').on('data', (text) => (errors = (errors + text).slice(-2_000)))
  return new Promise((done) => {
    child.once('error', (error) =>
      done({ skipped: `the build of EdgeVPN cannot be started: ${error.message}` }),
    )
    child.once('close', (code) => {
      if (code !== 0)
        return done({ skipped: `the build of EdgeVPN failed (${errors.trim().split('\n').at(-1)}); ${HOW}` })
      renameSync(made, binary)
      done({ binary })
    })
  })
}
