/** What was measured before: a line of `bench/history.jsonl` for each run with `--record`, drawn on the site's page of measurements. */
import { spawnSync } from 'node:child_process'
import { appendFileSync, mkdirSync } from 'node:fs'
import { dirname, join } from 'node:path'

const root = join(import.meta.dirname, '../..')
const HISTORY = join(root, 'bench/history.jsonl')

/** Appends the numbers of a run, each under its path (`dns.host.ratio`), with the commit and the day. */
export function recordRun(results: Readonly<Record<string, unknown>>): void {
  const commit = spawnSync('git', ['rev-parse', '--short=10', 'HEAD'], {
    cwd: root,
    encoding: 'utf8',
  }).stdout.trim()
  const { node, cores, ...measures } = results
  const line = {
    day: new Date().toISOString().slice(0, 10),
    commit,
    node,
    cores,
    figures: figuresOf(measures),
  }
  mkdirSync(dirname(HISTORY), { recursive: true })
  appendFileSync(HISTORY, `${JSON.stringify(line)}\n`)
}

/** The numbers in a tree of results by their path. */
export function figuresOf(tree: object, path = ''): Record<string, number> {
  return Object.assign(
    {},
    ...Object.entries(tree).map(([name, value]: [string, unknown]) => {
      if (typeof value === 'number') return { [path + name]: value }
      return value !== null && typeof value === 'object' ? figuresOf(value, `${path}${name}.`) : {}
    }),
  )
}
