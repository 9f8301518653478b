/** The counts that keep the code simple: sizes, wrappers around libraries, and mechanisms that exist once. */
import { execFileSync } from 'node:child_process'
import { existsSync, globSync, readFileSync } from 'node:fs'
import { join, resolve } from 'node:path'
import ts from 'typescript'

const root = resolve(import.meta.dirname, '..')
const read = (file) => readFileSync(join(root, file), 'utf8')
const linesOf = (text) => text.split('\n').length - 1
const tracked = execFileSync('git', ['ls-files', '--cached', '--others', '--exclude-standard'], {
  cwd: root,
  encoding: 'utf8',
})
  .split('\n')
  .filter((file) => file !== '' && existsSync(join(root, file)))

/** Source of the product: no tests, tools, fakes or generated files. */
const sources = tracked.filter(
  (file) =>
    /^(apps|packages)\/.*\.(ts|tsx|rs)$/.test(file) &&
    !/(^|\/)(test|testing|testkit|bench|dev|scripts|tools)\/|\.test\.tsx?$|\/testing\.ts$|\.d\.ts$|_tests\.rs$|\/engine_tests\/|(tsup|vite)\.config\.ts$/.test(
      file,
    ),
)
/** Rust files end with their tests. */
const sourceOf = (file) =>
  file.endsWith('.rs') ? (read(file).split('#[cfg(test)]\nmod')[0] ?? '') : read(file)
const total = (files) => files.reduce((sum, file) => sum + linesOf(sourceOf(file)), 0)

const problems = []
function atMost(what, count, most) {
  console.log(`${String(count).padStart(7)} of ${most}: ${what}`)
  if (count > most) problems.push(`${what}: ${count}, at most ${most}`)
}

/** The number that so large a part of the numbers does not exceed. */
const quantile = (numbers, part) =>
  numbers.toSorted((a, b) => a - b)[Math.floor((numbers.length - 1) * part)] ?? 0

/** The lines of each function with a body of its own: not of arrow functions that are one expression. */
function functionSizes(file) {
  const source = ts.createSourceFile(file, read(file), ts.ScriptTarget.Latest, true)
  const sizes = []
  const lineAt = (position) => source.getLineAndCharacterOfPosition(position).line
  const visit = (node) => {
    if (ts.isFunctionLike(node) && node.body !== undefined && ts.isBlock(node.body))
      sizes.push(lineAt(node.end) - lineAt(node.getStart(source)) + 1)
    ts.forEachChild(node, visit)
  }
  visit(source)
  return sizes
}

// 104,000 when the page, packages and rules were still to come
atMost('lines of source', total(sources), 119_000)
const fileSizes = sources.map((file) => linesOf(sourceOf(file)))
atMost('lines of the median file', quantile(fileSizes, 0.5), 70)
atMost('lines of nine files in ten', quantile(fileSizes, 0.9), 190)
atMost('lines of the longest file', Math.max(...fileSizes), 430)
const functions = sources.filter((file) => !file.endsWith('.rs')).flatMap(functionSizes)
atMost('lines of the median function', quantile(functions, 0.5), 7)
atMost('lines of nine functions in ten', quantile(functions, 0.9), 21)
const wrappers = sources.filter((file) => file.startsWith('packages/p2p/src/upstream/'))
atMost('files that wrap libraries (packages/p2p/src/upstream)', wrappers.length, 20)
atMost('lines of them', total(wrappers), 1_500)
atMost(
  'lines of the API listener',
  total(sources.filter((file) => file.startsWith('packages/api-server/src/listen/'))),
  600,
)
atMost('lines of docs/SECURITY.md', linesOf(read('docs/SECURITY.md')), 200)
const unreleased = read('CHANGELOG.md').split('## Unreleased')[1]?.split('\n## ')[0] ?? ''
atMost('lines of what is unreleased in CHANGELOG.md', linesOf(unreleased.trim()) + 1, 40)
const packages = globSync('packages/*/package.json', { cwd: root }).length
atMost(
  'changesets',
  globSync('.changeset/*.md', { cwd: root }).filter((file) => !file.endsWith('README.md')).length,
  packages,
)

/** Mechanisms of `@mesh/core/limits`, and what it replaced. */
const ONCE = /\b(setImmediate|greatestGroup|LoopTurns|TimeShare)\b/
const elsewhere = sources.filter(
  (file) => !file.startsWith('packages/core/src/limits/') && ONCE.test(sourceOf(file)),
)
atMost(`files beside packages/core/src/limits with ${ONCE.source}`, elsewhere.length, 0)

for (const problem of problems) console.log(problem)
process.exitCode = problems.length === 0 ? 0 : 1
