/** The pages of files and services in a browser: a file of 3 MiB is really sent. */
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser, watchPage } from './support/browser.ts'
import { createPlayedOffers, type PlayedOffers } from './support/played-offers.ts'
import { type BuiltPage, buildPage, type ServedPage, servePage } from './support/served-page.ts'

const SEEN = { timeout: 10_000 }
const DESK = { width: 1440, height: 900 }
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
    const page = await browser.newPage({ viewport: DESK })
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
})
