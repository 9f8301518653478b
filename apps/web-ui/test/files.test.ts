/** The pages of files and services in a browser: a file of 3 MiB is really sent, and axe finds nothing serious. */
import { readFileSync } from 'node:fs'
import { createRequire } from 'node:module'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser, watchPage } from './support/browser.ts'
import { createPlayedOffers, type PlayedOffers } from './support/played-offers.ts'
import { type BuiltPage, buildPage, type ServedPage, servePage } from './support/served-page.ts'

const SEEN = { timeout: 10_000 }
const AXE = readFileSync(createRequire(import.meta.url).resolve('axe-core/axe.min.js'), 'utf8')
const SIZES = { desk: { width: 1440, height: 900 }, phone: { width: 390, height: 844 } } as const
const skipped = browserPath === undefined ? ' (skipped: no Chromium is installed)' : ''

describe.skipIf(browserPath === undefined)(`files in a browser${skipped}`, () => {
  let built: BuiltPage
  let offers: PlayedOffers
  let node: ServedPage
  let browser: Browser

  beforeAll(async () => {
    built = await buildPage()
    offers = createPlayedOffers()
    node = await servePage(built.assets)
    node.attachOffers(offers)
    browser = await launchBrowser(browserPath ?? '')
  })
  afterAll(async () => {
    await browser?.close()
    await node?.stop()
    built?.remove()
  })

  test('a file of 3 MiB comes to the node byte by byte as it was', async () => {
    const page = await browser.newPage({ viewport: SIZES.desk })
    const misdeeds = await watchPage(page, node.url)
    await page.goto(`${node.url}/files`)
    const bytes = Buffer.alloc(3 * 1024 * 1024 + 17, 'mesh')
    await page
      .getByLabel('Files to offer')
      .setInputFiles({ name: 'big file.bin', mimeType: 'text/plain', buffer: bytes })
    const sent = page.getByRole('region', { name: 'Sent from this browser' })
    await sent.getByText('offered').waitFor(SEEN)
    expect(offers.received('big file.bin')?.equals(bytes)).toBe(true)
    expect(await misdeeds.violations()).toEqual([])
    await page.close()
  })

  test.each([
    ['desk', 'light'],
    ['desk', 'dark'],
    ['phone', 'light'],
    ['phone', 'dark'],
  ] as const)('axe finds nothing serious on a %s in the %s theme', async (size, colorScheme) => {
    const page = await browser.newPage({ viewport: SIZES[size], colorScheme })
    for (const path of ['/files', '/services', '/files?view=look&name=photos']) {
      await page.goto(node.url + path)
      await page.getByText('live', { exact: true }).waitFor(SEEN)
      await page.getByRole('heading', { level: 2 }).first().waitFor(SEEN)
      expect([path, await seriousFaults(page)]).toEqual([path, []])
    }
    await page.close()
  })
})

async function seriousFaults(page: Page): Promise<readonly string[]> {
  await page.waitForFunction(() => document.getAnimations().every(({ playState }) => playState !== 'running'))
  await page.evaluate(AXE)
  return page.evaluate(async () => {
    const { axe } = globalThis as unknown as {
      axe: { run(): Promise<{ violations: readonly { readonly impact: string }[] }> }
    }
    const { violations } = await axe.run()
    return violations
      .filter(({ impact }) => impact === 'serious' || impact === 'critical')
      .map((violation) => JSON.stringify(violation).slice(0, 600))
  })
}
