/**
 * `npm run release`: rehearses a release in a clone, offline, and changes nothing here: versions and changelogs from the
 * changesets, the tag, and with `--packages` everything that `npm run package` makes, with its sums. `--for-real` does the
 * same in this checkout, commits and tags. Nothing is pushed or published: the last lines say how.
 */
import { existsSync, globSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { output, pnpm, root, show } from './package/commands.mjs'

const { values: asked } = parseArgs({
  options: {
    'for-real': { type: 'boolean', default: false },
    packages: { type: 'boolean', default: false },
  },
})
const isReal = asked['for-real']
/** Versions stand in these. */
const MANIFESTS = [
  'package.json',
  '{apps,packages,tools}/*/package.json',
  'packages/engine/npm/*/package.json',
]

if (git('status', '--porcelain') !== '') stop('commit or stash first: a release is made of what is committed')
if (changesets(root).length === 0)
  stop('there is no changeset: nothing to release (`npm run changeset` makes one)')

const work = isReal ? root : mkdtempSync(join(tmpdir(), 'mesh-release-'))
if (!isReal) {
  process.once('exit', () => rmSync(work, { recursive: true, force: true }))
  must('git', ['clone', '--quiet', '--no-local', root, work], root)
  must('npx', ['--yes', '--prefer-offline', pnpm, 'install', '--offline', '--frozen-lockfile'], work)
}
release()

function release() {
  const before = versions(work)
  must(join(work, 'node_modules/.bin/changeset'), ['version'], work)
  const changed = [...versions(work)].filter(([name, version]) => before.get(name) !== version)
  for (const [name, version] of changed) console.log(`${name}  ${before.get(name)} -> ${version}`)
  const [version] = new Set(changed.map(([, each]) => each))
  if (version === undefined) stop('the changesets change no version')
  datedChangelog(version)
  packagingVersion(version)
  console.log(
    `\nCHANGELOG.md, ${version}:\n${unreleasedOf(readFileSync(join(root, 'CHANGELOG.md'), 'utf8'))}\n`,
  )
  if (asked.packages) {
    must('npm', ['run', 'package'], work)
    console.log(readFileSync(join(work, 'dist/SHA256SUMS'), 'utf8'))
    if (!isReal && existsSync(join(root, 'dist')))
      console.log('dist/ of this checkout is as it was: these were made in a clone')
  }
  const tag = `v${version}`
  if (git('tag', '--list', tag) !== '') stop(`there is a tag ${tag} already`)
  if (!isReal) {
    console.log(
      `Rehearsed ${tag}; nothing was changed. \`npm run release -- --for-real\` commits and tags it.`,
    )
    return
  }
  must('git', ['add', '--all'], work)
  must('git', ['commit', '--quiet', '--message', `release ${version}`], work)
  must('git', ['tag', '--annotate', tag, '--message', `mesh ${version}`], work)
  console.log(`Committed and tagged ${tag}. Next, with your credentials:`)
  console.log('  git push --follow-tags')
  console.log('  for tarball in dist/npm/*.tgz; do npm publish "$tarball" --access public; done')
}

/** What is unreleased in CHANGELOG.md gets the version and the date. */
function datedChangelog(version) {
  const file = join(work, 'CHANGELOG.md')
  const today = new Date().toISOString().slice(0, 10)
  const text = readFileSync(file, 'utf8')
  writeFileSync(file, text.replace('## Unreleased\n', `## Unreleased\n\n## ${version} (${today})\n`))
}

/** The chart and the module for NixOS name the version, too. */
function packagingVersion(version) {
  for (const name of ['packaging/helm/mesh/Chart.yaml', 'packaging/nixos/module.nix']) {
    const file = join(work, name)
    const text = readFileSync(file, 'utf8')
    writeFileSync(file, text.replace(/^(version: |appVersion: | +version = ")[^"\n]+/gm, `$1${version}`))
  }
}

function unreleasedOf(text) {
  return (text.split('## Unreleased\n')[1]?.split('\n## ')[0] ?? '').trim()
}

function versions(folder) {
  const manifests = globSync(MANIFESTS, { cwd: folder }).map((file) =>
    JSON.parse(readFileSync(join(folder, file), 'utf8')),
  )
  return new Map(
    manifests
      .filter(({ name, private: isPrivate }) => name && !isPrivate)
      .map((each) => [each.name, each.version]),
  )
}

function changesets(folder) {
  return globSync('.changeset/*.md', { cwd: folder }).filter((file) => !file.endsWith('README.md'))
}

function git(...words) {
  return output('git', words, { cwd: root }).trim()
}

/** Runs a program whose output nobody needs. */
function must(program, words, cwd) {
  show(program, words, { cwd, stdio: ['ignore', 'ignore', 'inherit'] })
}

function stop(why) {
  console.error(why)
  process.exit(1)
}
