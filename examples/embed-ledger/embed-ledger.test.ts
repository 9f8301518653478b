import { execFile } from 'node:child_process'
import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { chromium } from 'playwright-core'
import { expect, test } from 'vitest'
import { build, type Rolldown } from 'vite'
import { openTaskList } from './task-list.ts'

const SAID = ['Ben sees: water the plants', 'Ben is refused: ledger.not_owner']
const CHROMIUM = '/usr/bin/chromium'

test('the tool is about twenty lines', () => {
  const lines = readFileSync(join(import.meta.dirname, 'task-list.ts'), 'utf8')
    .trim()
    .split('\n')
  expect(lines.length).toBeLessThanOrEqual(26)
})

test('the first claim stands on all copies, also on one that comes later; a release frees it', async () => {
  const blocks: Uint8Array[] = []
  const [ann, ben] = [
    openTaskList((block) => blocks.push(block)),
    openTaskList((block) => blocks.push(block)),
  ]
  await ann.claim('dishes')
  await ben.hear(ann.all())
  expect(ben.claims()).toMatchObject([{ key: 'dishes', entry: { owner: ann.self } }])
  expect(() => ben.claim('dishes')).toThrow(expect.objectContaining({ code: 'ledger.not_owner' }))
  await ann.release('dishes')
  await ben.hear(blocks.at(-1) ?? new Uint8Array())
  await ben.claim('dishes')
  expect(ben.claims()).toMatchObject([{ entry: { owner: ben.self } }])
})

test('runs in Node', async () => {
  const run = promisify(execFile)(process.execPath, ['--conditions=mesh-source', 'main.ts'], {
    cwd: import.meta.dirname,
  })
  expect((await run).stdout.trim().split('\n')).toEqual(SAID)
})

async function bundle(): Promise<string> {
  const result = await build({ root: import.meta.dirname, logLevel: 'error', build: { write: false } })
  const { output } = result as Rolldown.RolldownOutput
  return output.flatMap((file) => (file.type === 'chunk' ? [file.code] : [])).join('\n')
}

test('the same module bundles for a browser without anything of Node', async () => {
  const code = await bundle()
  expect(code).toContain('water the plants')
  expect(code).not.toMatch(/\bnode:|\bprocess\.|\bBuffer\b|__vite-browser-external/)
})

test.skipIf(!existsSync(CHROMIUM))('runs in a browser', async () => {
  const code = await bundle()
  const browser = await chromium.launch({
    executablePath: CHROMIUM,
    args: [
      '--no-sandbox',
      '--disable-gpu',
      '--disable-quic',
      '--no-first-run',
      '--disable-background-networking',
      '--disable-component-update',
      '--disable-sync',
    ],
  })
  try {
    const page = await browser.newPage()
    const said: string[] = []
    const done = new Promise<void>((resolve) => {
      page.on('console', (message) => {
        if (said.push(message.text()) === SAID.length) resolve()
      })
    })
    await page.setContent(`<script type="module">${code.replaceAll('</script', '<\\/script')}</script>`)
    await done
    expect(said).toEqual(SAID)
  } finally {
    await browser.close()
  }
})
