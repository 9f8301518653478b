/**
 * `npm run setup`, `npm start`, `npm test` and `npm run package`: all that a newcomer needs. Runs on the Node and npm at hand
 * (20 or later), and brings pnpm and the workspace's own Node from the registry. Whatever takes long says what it is.
 *
 * `npm start` compiles no Rust: the API and the page do not need the VPN's engine, and two minutes of a compiler would
 * stand before the first page. `npm run setup` compiles it beside the rest. Both end their preparation with one line
 * that says what works on this machine, and what the rest would need.
 */
import { createHash } from 'node:crypto'
import { existsSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { checkEngine, describeMachine, startEngineBuild } from './engine.mjs'
import { run } from './run.mjs'

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
  case 'setup': {
    const engine = startEngineBuild(root)
    await install()
    await build()
    console.log(describeMachine(await engine.outcome()))
    console.log('Next: `npm start` for the API and its page, or the VPN as in docs/from-source.md.')
    break
  }
  case 'start': {
    await install()
    await build('--filter=@mesh/node')
    console.log(describeMachine(await checkEngine(root)))
    const { start } = await import('./start.mjs')
    await start({ root, args })
    break
  }
  case 'test':
    await install()
    await pnpm(['run', 'check', ...args])
    break
  case 'package': {
    await install()
    await build()
    // by pnpm, whose Node is the workspace's own, and which its parts call
    await pnpm(['exec', 'node', 'scripts/package.mjs', ...args])
    break
  }
  default:
    console.error('usage: npm run setup | npm start | npm test | npm run package')
    process.exitCode = 2
}

/** Only when the lockfile, or pnpm's version, differs from the one that was last installed. */
async function install() {
  const stamp = join(root, 'node_modules/.mesh-installed')
  const wanted = createHash('sha256')
    .update(packageManager)
    .update(readFileSync(join(root, 'pnpm-lock.yaml')))
    .digest('hex')
  if (existsSync(stamp) && readFileSync(stamp, 'utf8') === wanted) return
  console.log('Installing the dependencies (the first time takes about a minute) ...')
  await pnpm(
    ['install', '--frozen-lockfile', '--reporter=append-only', '--loglevel=warn'],
    'still installing',
  )
  writeFileSync(stamp, wanted)
}

/** turbo knows what has changed and builds only that. */
async function build(...filter) {
  console.log('Building what has changed (the first time takes about a minute) ...')
  const words = ['exec', 'turbo', 'run', 'build', ...filter, '--output-logs=errors-only', '--ui=stream']
  await pnpm(words, 'still building')
}

/**
 * Runs pnpm by npx, which asks the registry for it each time and tries for a minute where there is no network; once pnpm
 * has installed the workspace npx has it, and is told to ask no more.
 *
 * @param stillBusy said every so often while it runs, with the time that has passed
 */
async function pnpm(words, stillBusy) {
  const known = words[0] === 'install' ? [] : ['--prefer-offline']
  const { status, error } = await run('npx', ['--yes', ...known, packageManager, ...words], {
    cwd: root,
    env: environment,
    stillBusy,
  })
  if (status === 0) return
  if (error !== undefined) console.error(`cannot run npx: ${error.message}`)
  process.exit(status ?? 1)
}
