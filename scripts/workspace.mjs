/**
 * `npm run setup`, `npm start` and `npm test`: all that a newcomer needs. Runs on the Node and npm at hand
 * (20 or later), and brings pnpm and the workspace's own Node from the registry.
 */
import { spawnSync } from 'node:child_process'
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'

const root = dirname(dirname(fileURLToPath(import.meta.url)))
const { packageManager } = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8'))
const environment = {
  ...process.env,
  // npm's remarks on settings of the person's that it will not know one day
  npm_config_loglevel: 'error',
  npm_config_progress: 'false',
  TURBO_TELEMETRY_DISABLED: '1',
  DO_NOT_TRACK: '1',
}

const [command, ...args] = process.argv.slice(2)
switch (command) {
  case 'setup':
    install()
    build()
    break
  case 'start': {
    install()
    build('--filter=node')
    const { start } = await import('./start.mjs')
    await start({ root, args })
    break
  }
  case 'test':
    install()
    pnpm(['run', 'check', ...args])
    break
  default:
    console.error('usage: npm run setup | npm start | npm test')
    process.exitCode = 2
}

/** Only when the lockfile differs from the one that was last installed. */
function install() {
  const stamp = join(root, 'node_modules/.mesh-installed')
  const lockfile = createHash('sha256')
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === lockfile) return
  console.log('Installing the dependencies (the first time takes about a minute) ...')
  pnpm(['install', '--frozen-lockfile', '--reporter=append-only', '--loglevel=warn'])
  writeFileSync(stamp, lockfile)
}

/** turbo knows what has changed and builds only that. */
function build(...filter) {
  console.log('Building what has changed ...')
  pnpm(['exec', 'turbo', 'run', 'build', ...filter, '--output-logs=errors-only', '--ui=stream'])
}

function pnpm(words) {
  const { status, error } = spawnSync('npx', ['--yes', packageManager, ...words], {
    cwd: root,
    env: environment,
    stdio: 'inherit',
    shell: process.platform === 'win32',
  })
  if (status === 0) return
  if (error !== undefined) console.error(`cannot run npx: ${error.message}`)
  process.exit(status ?? 1)
}
