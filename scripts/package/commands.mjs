/** Runs the programs that packaging and releases call, and finds those that a machine may lack. */
import { execFileSync, spawnSync } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'

export const root = join(import.meta.dirname, '../..')
/** The version of pnpm that npx runs: `pnpm@12.21.0`. */
export const pnpm = JSON.parse(readFileSync(join(root, 'package.json'), 'utf8')).packageManager

/** Its standard output. @throws Error with what the program printed, when it fails */
export function output(program, args, options = {}) {
  return execFileSync(program, args, { encoding: 'utf8', maxBuffer: 1 << 28, ...options })
}

/** Shows what the program prints. @throws Error when it fails */
export function show(program, args, options = {}) {
  const { status, error } = spawnSync(program, args, { stdio: 'inherit', ...options })
  if (status !== 0)
    throw new Error(`${[program, ...args].join(' ')} failed: ${error?.message ?? `status ${status}`}`)
}

/** Is there a program of this name? */
export function isThere(program) {
  return spawnSync('sh', ['-c', 'command -v "$1"', 'sh', program]).status === 0
}

/** The first of these programs that this machine has; undefined without any. */
export function firstOf(programs) {
  return programs.find(isThere)
}

/** The time of the last commit, in seconds: what archives say instead of the time of their build. */
export function commitSeconds() {
  return Number(process.env.SOURCE_DATE_EPOCH ?? output('git', ['log', '-1', '--format=%ct'], { cwd: root }))
}
