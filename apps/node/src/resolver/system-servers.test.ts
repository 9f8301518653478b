import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { watchFiles } from './system-servers.ts'

const SOON = { withinMs: 10_000 }

test('a file that was replaced is told, also behind a link', { timeout: 20_000 }, async () => {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-watch-'))
  onTestFinished(() => rmSync(folder, { recursive: true }))
  const [target, link] = [join(folder, 'target'), join(folder, 'link')]
  writeFileSync(target, 'one\n')
  symlinkSync('target', link)
  let changes = 0
  const stop = watchFiles([link], () => changes++)
  onTestFinished(stop)
  writeFileSync(join(folder, 'new'), 'two\n')
  // until the first look there is nothing to compare with
  await eventually(() => {
    renameSync(join(folder, 'new'), target)
    writeFileSync(join(folder, 'new'), `${performance.now()}\n`)
    expect(changes).toBeGreaterThan(0)
  }, SOON)
})
