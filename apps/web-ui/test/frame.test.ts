/** The frame in a browser: the search and its focus, and the steps that add a machine. */
import { describe, expect, test } from 'vitest'
import { browserPath, watchPage } from './support/browser.ts'
import { browseBuiltPage } from './support/built-page.ts'

const SEEN = { timeout: 10_000 }
const DESK = { viewport: { width: 1440, height: 900 } }

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
})
