/** A release is rehearsed in a clone: this checkout stays as it is. */
import { spawnSync } from 'node:child_process'
import { cpSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import { expect, test } from 'vitest'

const root = resolve(import.meta.dirname, '..')
const run = (cwd: string, file: string, ...words: readonly string[]) =>
  spawnSync(file, words, {
    cwd,
    encoding: 'utf8',
    env: {
      ...process.env,
      GIT_AUTHOR_NAME: 'a',
      GIT_AUTHOR_EMAIL: 'a@b',
      GIT_COMMITTER_NAME: 'a',
      GIT_COMMITTER_EMAIL: 'a@b',
    },
  })

test('for real it commits and tags one version of all packages, and of what is not committed it makes nothing', () => {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-release-test-'))
  const checkout = join(folder, 'mesh')
  try {
    expect(run(folder, 'git', '-c', 'safe.directory=*', 'clone', '--quiet', root, checkout).stderr).toBe('')
    for (const path of ['scripts/release.mjs', 'scripts/package'])
      cpSync(join(root, path), join(checkout, path), { recursive: true })
    writeFileSync(join(checkout, '.changeset/tested.md'), '---\n"@mesh/core": minor\n---\nA test.\n')
    const early = run(checkout, process.execPath, 'scripts/release.mjs', '--for-real')
    expect(early).toMatchObject({ status: 1, stderr: expect.stringContaining('commit or stash first') })
    run(checkout, 'git', 'add', '--all')
    run(checkout, 'git', 'commit', '--quiet', '--message', 'test')
    symlinkSync(join(root, 'node_modules'), join(checkout, 'node_modules'))
    writeFileSync(join(checkout, '.git/info/exclude'), 'node_modules\n')
    const made = run(checkout, process.execPath, 'scripts/release.mjs', '--for-real')
    expect(made).toMatchObject({ status: 0, stdout: expect.stringMatching(/@mesh\/core {2}\S+ -> (\S+)\n/) })
    const tag = run(checkout, 'git', 'describe', '--exact-match').stdout.trim()
    expect(made.stdout).toContain(`Committed and tagged ${tag}.`)
    expect(run(checkout, 'git', 'status', '--porcelain').stdout).toBe('')
    expect(run(checkout, 'git', 'show', '--stat', 'HEAD').stdout).toContain('packages/core/CHANGELOG.md')
    const again = run(checkout, process.execPath, 'scripts/release.mjs')
    expect(again).toMatchObject({ status: 1, stderr: expect.stringContaining('there is no changeset') })
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})
