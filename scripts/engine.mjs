/** The VPN's native engine, for `npm run setup` and `npm start`: compiled beside the rest, and told of in one line. */
import { spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { createInterface } from 'node:readline'

const PROGRESS_EVERY_MS = 20_000
const SCRIPT = 'packages/engine/scripts/build-addon.mjs'
/** What every machine with Node can do. */
const ALWAYS = 'API, page, ledger'

/**
 * Begins at once, since it needs nothing of the workspace's packages; cargo's own lines are shown when it fails.
 * `outcome` resolves with what came out, in the words of build-addon.mjs: `built (linux-x64-gnu)`.
 */
export function startEngineBuild(root) {
  const build = runScript(root, [])
  let [compiled, isWaitedFor] = [0, false]
  const began = Date.now()
  build.onError((line) => {
    if (!/^\s*Compiling /.test(line)) return
    if (compiled++ === 0)
      console.log("Compiling the VPN's engine beside it (Rust; the first time takes about two minutes) ...")
  })
  const timer = setInterval(() => {
    if (!isWaitedFor || compiled === 0) return
    const seconds = Math.round((Date.now() - began) / 1000)
    console.log(`  ... still compiling the VPN's engine: ${compiled} crates so far (${seconds} s)`)
  }, PROGRESS_EVERY_MS)
  const ended = build.ended.finally(() => clearInterval(timer))
  return {
    async outcome() {
      isWaitedFor = true
      const { words, errors } = await ended
      if (words.includes('compilation failed')) process.stderr.write(`${errors.join('\n')}\n`)
      return words
    },
  }
}

/** What a build would come to, without one. */
export async function checkEngine(root) {
  return (await runScript(root, ['--check']).ended).words
}

/** One line for people: what works on this machine, and what the rest would need. */
export function describeMachine(engine) {
  if (/^(built|unchanged|kept)/.test(engine)) {
    return existsSync('/dev/net/tun')
      ? `Ready on this machine: ${ALWAYS}, VPN (as root, or with CAP_NET_ADMIN).`
      : `Ready on this machine: ${ALWAYS}. VPN: it is built, but /dev/net/tun is missing (modprobe tun).`
  }
  if (engine.startsWith('not built yet')) {
    return `Ready on this machine: ${ALWAYS}. VPN: not built yet; \`npm run setup\` does that (Rust, about two minutes the first time).`
  }
  const reason = engine.replace(/^not built: /, '')
  // what comes after the semicolon can be done
  const again = reason.includes(';') ? ', and run `npm run setup` again' : ''
  return `Ready on this machine: ${ALWAYS}. VPN: not available: ${reason}${again}.`
}

function runScript(root, args) {
  const child = spawn(process.execPath, [join(root, SCRIPT), ...args], { stdio: ['ignore', 'pipe', 'pipe'] })
  // whatever ends this process: nobody would see what came of it
  process.once('exit', () => child.kill())
  const errors = []
  let words = 'not built: its build did not end well'
  const stdout = createInterface({ input: child.stdout })
  const stderr = createInterface({ input: child.stderr })
  stdout.on('line', (line) => {
    if (line.startsWith('engine addon: ')) words = line.slice('engine addon: '.length)
  })
  stderr.on('line', (line) => errors.push(line))
  const ended = new Promise((resolve) => child.once('close', () => resolve({ words, errors })))
  return { ended, onError: (listener) => stderr.on('line', listener) }
}
