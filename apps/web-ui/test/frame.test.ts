/** The frame in a browser: the search and its focus, the steps that add a machine, and what axe finds wrong. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browserPath, watchPage } from './support/browser.ts'
import { browseBuiltPage } from './support/built-page.ts'

const SEEN = { timeout: 10_000 }
const DESK = { viewport: { width: 1440, height: 900 } }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')

const skipped = browserPath === undefined ? ' (skipped: no Chromium is installed)' : ''

describe.skipIf(browserPath === undefined)(`the frame in a browser${skipped}`, () => {
  const browsed = browseBuiltPage()

  async function open(path: string, options = {}) {
    const { node, browser } = browsed()
    const page = await browser.newPage(options)
    const misdeeds = await watchPage(page, node.url)
    await page.goto(node.url + path)
    await page.getByText('live', { exact: true }).waitFor(SEEN)
    return { page, misdeeds }
  }

  test('the search opens with the keys, finds a key of the ledger, and gives the focus back', async () => {
    await browsed().node.ledger.put('notes', 'shopping', '"milk"').settled
    const { page, misdeeds } = await open('/', DESK)
    const opener = page.getByRole('button', { name: 'Search everything' })
    await opener.focus()
    await page.keyboard.press('Control+k')
    const field = page.getByRole('dialog').getByRole('combobox')
    await field.waitFor(SEEN)
    expect(await field.evaluate((element) => element === document.activeElement)).toBe(true)
    await page.keyboard.press('Escape')
    await field.waitFor({ state: 'detached', ...SEEN })
    expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true)

    await page.keyboard.press('Control+k')
    await field.fill('shopp')
    await page.getByRole('option', { name: /shopping/ }).waitFor(SEEN)
    await page.keyboard.press('Enter')
    await page.getByText('signature verified here').waitFor(SEEN)
    expect(new URL(page.url()).search).toBe('?bucket=notes&key=shopping')
    expect(await misdeeds.violations()).toEqual([])
    await page.close()
  })

  test('all sections fit into the rail of a page that is 900 px high', async () => {
    const { page } = await open('/', DESK)
    const rail = page.getByRole('navigation', { name: 'Sections' }).first()
    expect(await rail.getByRole('link').count()).toBe(16)
    const [content, height] = await rail.evaluate((element) => [element.scrollHeight, element.clientHeight])
    expect(content).toBe(height)
    await page.close()
  })

  test.each([
    ['a desk', 'light', DESK],
    ['a desk', 'dark', DESK],
    ['a phone', 'light', PHONE],
    ['a phone', 'dark', PHONE],
  ] as const)('axe finds nothing serious on %s in the %s theme', async (_where, colorScheme, options) => {
    const { node } = browsed()
    const { page } = await open('/', { ...options, colorScheme })
    for (const path of ['/', '/machines', '/more', '/diagnostics', '/settings', '/settings?view=api']) {
      await page.goto(node.url + path)
      await page.getByText('live', { exact: true }).waitFor(SEEN)
      await page.getByRole('heading', { level: 1 }).waitFor(SEEN)
      expect([path, await seriousFaults(page)]).toEqual([path, []])
    }
    await page.goto(`${node.url}/machines`)
    await page.getByRole('button', { name: 'Add a machine' }).click(SEEN)
    await page.getByText('Waiting for a machine…').waitFor(SEEN)
    expect(await seriousFaults(page)).toEqual([])
    await page.keyboard.press('Escape')
    await page.getByRole('button', { name: 'Search everything' }).click()
    await page.getByRole('option').first().waitFor(SEEN)
    expect(await seriousFaults(page)).toEqual([])
    await page.close()
  })
})

interface AxeGlobal {
  readonly axe: {
    run(): Promise<{ readonly violations: readonly { readonly id: string; readonly impact: string }[] }>
  }
}

/** Rules that the page breaks, with the elements, where people would be stopped by it. */
async function seriousFaults(page: Page): Promise<readonly string[]> {
  // animations change colours
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'))
  await page.evaluate(AXE)
  const violations = await page.evaluate(async () => {
    const { violations: found } = await (globalThis as unknown as AxeGlobal).axe.run()
    return found.map((violation) => ({ ...violation, text: JSON.stringify(violation).slice(0, 600) }))
  })
  return violations
    .filter(({ impact }) => impact === 'serious' || impact === 'critical')
    .map(({ text }) => text)
}
