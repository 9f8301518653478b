/**
 * What the long tools leave behind when they are interrupted, which is nothing: `npm run attack|soak|bench|fuzz` start
 * nodes, attackers, network namespaces and folders in many places, and a signal may come at any moment.
 *
 * 1 Everything temporary goes into one folder; 2 a signal ends all processes that descend from this one, whoever started
 * them, 3 removes this process's namespaces and that folder, 4 and ends with 128 and the signal's number, as shells
 * expect. All of it happens within the signal's own turn, so that nothing is started in between.
 */
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs'
import { constants, tmpdir } from 'node:os'
import { join } from 'node:path'
import { removeLabs } from '@mesh/testkit'

const SIGNALS = ['SIGINT', 'SIGTERM', 'SIGHUP'] as const
/** How long processes may take to be gone after SIGKILL, in ms. */
const GONE_MS = 10_000
const LOOK_AGAIN_MS = 20

/** To be called once, before anything is started. */
export function cleanUpWhenInterrupted(): void {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-'))
  process.env['TMPDIR'] = folder
  const removeFolder = () => rmSync(folder, { recursive: true, force: true, maxRetries: 5 })
  process.on('exit', removeFolder)
  for (const signal of SIGNALS) {
    process.on(signal, () => {
      process.stderr.write(`${signal}: ending what was started\n`)
      endDescendants()
      removeLabs()
      process.exit(128 + constants.signals[signal])
    })
  }
}

/** Ends all descendants, also those that are started meanwhile by others of them. */
function endDescendants(): void {
  const end = performance.now() + GONE_MS
  const sleep = new Int32Array(new SharedArrayBuffer(4))
  for (let left = descendants(); left.length > 0 && performance.now() < end; left = descendants()) {
    for (const pid of left) kill(pid)
    Atomics.wait(sleep, 0, 0, LOOK_AGAIN_MS)
  }
}

function kill(pid: number): void {
  try {
    process.kill(pid, 'SIGKILL')
  } catch {
    // it is gone already
  }
}

/** The processes that descend from this one and run: one that has ended is nobody's concern before it is waited for. */
function descendants(): readonly number[] {
  const children = new Map<number, number[]>()
  for (const name of readdirSync('/proc')) {
    const known = /^\d+$/.test(name) ? readProcess(Number(name)) : undefined
    if (known === undefined || known.state === 'Z') continue
    children.set(known.parent, [...(children.get(known.parent) ?? []), Number(name)])
  }
  const found: number[] = []
  const waiting = [process.pid]
  for (let pid = waiting.pop(); pid !== undefined; pid = waiting.pop()) {
    const own = children.get(pid) ?? []
    found.push(...own)
    waiting.push(...own)
  }
  return found
}

function readProcess(pid: number): { readonly state: string; readonly parent: number } | undefined {
  try {
    // the name, in parentheses, may hold anything
    const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
    const [state = '', parent = '0'] = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    return { state, parent: Number(parent) }
  } catch {
    return undefined
  }
}
