import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browserPath, watchPage } from './support/browser.ts'
import { browseBuiltPage } from './support/built-page.ts'
import { createFakeNetwork, fakeHistory } from './support/fake-network.ts'

const SEEN = { timeout: 10_000 }
const skipped = browserPath === undefined ? ' (skipped: no Chromium is installed)' : ''

/** Answers for the node that serves the page. */
async function answer(page: Page, answers: Readonly<Record<string, unknown>>): Promise<void> {
  for (const [path, json] of Object.entries(answers))
    await page.route(`**${path}`, (route) => route.fulfill({ json }))
}

describe.skipIf(browserPath === undefined)(`map and traffic in a browser${skipped}`, () => {
  const browsed = browseBuiltPage()

  test('the map settles in a worker, and keys zoom, move and open a machine', async () => {
    const { node, browser } = browsed()
    const page = await browser.newPage()
    const { peers, reports } = createFakeNetwork(20)
    await answer(page, { '/api/peers': peers, '/api/paths': reports })
    const misdeeds = await watchPage(page, node.url)
    await page.goto(`${node.url}/map`)
    await page.locator('canvas[aria-busy=false]').waitFor(SEEN)
    await page.locator('canvas').focus()
    for (const key of ['+', '-', 'ArrowLeft', '0', 'j']) await page.keyboard.press(key)
    const link = page.getByRole('link', { name: 'Open the machine' })
    await link.waitFor(SEEN)
    const first = await link.getAttribute('href')
    await page.keyboard.press('j')
    await expect.poll(() => link.getAttribute('href')).not.toBe(first)
    await link.click()
    await page.getByRole('heading', { name: 'Paths', exact: true }).waitFor(SEEN)
    expect(await misdeeds.violations()).toEqual([])
    // the panel asks for the VPN, which an API alone has not
    const unexpected = misdeeds.complaints.filter((text) => !/\/api\/vpn|status of 404/.test(text))
    expect(unexpected).toEqual([])
    await page.close()
  })

  test('the traffic page draws its charts, and they follow the width', async () => {
    const { node, browser } = browsed()
    const page = await browser.newPage()
    const { peers } = createFakeNetwork(4)
    const history = fakeHistory(peers, Date.now())
    await answer(page, { '/api/peers': peers, '/api/metrics/history*': history })
    const misdeeds = await watchPage(page, node.url)
    await page.goto(`${node.url}/traffic`)
    await page.locator('figure canvas').nth(3).waitFor(SEEN)
    await page.setViewportSize({ width: 390, height: 844 })
    await expect.poll(() => page.evaluate(() => document.documentElement.scrollWidth)).toBe(390)
    await expect
      .poll(async () => (await page.locator('figure canvas').first().boundingBox())?.width)
      .toBeLessThan(390)
    expect(await misdeeds.violations()).toEqual([])
    expect(misdeeds.complaints).toEqual([])
    await page.close()
  })
})
