import { eventually } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { browserPath, watchPage } from './support/browser.ts'
import { createRelay } from './support/relay.ts'
import { browseBuiltPage } from './support/built-page.ts'
import { servePage } from './support/served-page.ts'
import { createSubpathProxy } from './support/subpath-proxy.ts'
import { vpnStatus } from './support/vpn-status.ts'

/** What a phone loads before it shows the first page, and what the node carries. */
const MAX_FIRST_SCRIPT_BYTES = 200_000
const MAX_SCRIPT_BYTES = 400_000
const SEEN = { timeout: 10_000 }

const skipped = browserPath === undefined ? ' (skipped: no Chromium is installed)' : ''

describe.skipIf(browserPath === undefined)(`the built page in a browser${skipped}`, () => {
  const browsed = browseBuiltPage()

  test('is a few files, and not too many bytes', () => {
    const { built } = browsed()
    expect(built.files.length).toBeLessThanOrEqual(30)
    expect(built.firstScriptBytes).toBeLessThan(MAX_FIRST_SCRIPT_BYTES)
    expect(built.scriptBytes).toBeLessThan(MAX_SCRIPT_BYTES)
  })

  test('reads the summary, sees a write appear, writes a key, and loads nothing from elsewhere', async () => {
    const { node, browser } = browsed()
    const page = await browser.newPage()
    const misdeeds = await watchPage(page, node.url)
    const answer = await page.goto(node.url)
    expect(answer?.headers()['content-security-policy']).toContain("script-src 'self'")

    await page.getByText('3 machines online, 1 direct, 1 relayed.').waitFor(SEEN)
    await page.getByText('Everything is working.').waitFor(SEEN)
    await page.getByText('live', { exact: true }).waitFor(SEEN)

    // written by the API: in the feed at once, then in its bucket
    await fetch(`${node.url}/api/ledger/notes/greeting/hello`, { method: 'PUT' })
    await page.getByRole('link', { name: 'notes/greeting' }).click(SEEN)
    await page.getByText('signature verified here').waitFor(SEEN)
    await fetch(`${node.url}/api/ledger/notes/second/two`, { method: 'PUT' })
    await page.getByRole('link', { name: 'second', exact: true }).waitFor(SEEN)

    // written by the page
    await page.getByRole('link', { name: 'New key' }).click()
    await page.getByLabel('Key', { exact: true }).fill('third')
    await page.getByLabel('Value').fill('{"n": 1795228706793271000}')
    await page.getByRole('button', { name: 'Write', exact: true }).click()
    await page.getByText('committed').first().waitFor(SEEN)
    await page.getByText('signature verified here').waitFor(SEEN)
    await eventually(() =>
      expect(node.ledger.snapshot().getLive('notes', 'third')?.value).toBe('{"n":1795228706793271000}'),
    )

    // its address leads back to it
    await page.reload()
    await page.getByText('signature verified here').waitFor(SEEN)
    expect(new URL(page.url()).search).toBe('?bucket=notes&key=third')

    expect(misdeeds.elsewhere).toEqual([])
    expect(await misdeeds.violations()).toEqual([])
    expect(misdeeds.complaints).toEqual([])
    await page.close()
  })

  test('works below a path of a reverse proxy: files, routes, reads, writes and live changes', async () => {
    const { node, browser } = browsed()
    const proxy = await createSubpathProxy(node.url)
    const page = await browser.newPage()
    const misdeeds = await watchPage(page, new URL(proxy.url).origin)
    await page.goto(`${proxy.url}/`)
    await page.getByText('live', { exact: true }).waitFor(SEEN)
    await page.getByRole('link', { name: 'Ledger' }).first().click(SEEN)
    await fetch(`${proxy.url}/api/ledger/below/path/1`, { method: 'PUT' })
    await page.getByRole('link', { name: /below/ }).first().click(SEEN)
    await page.getByRole('link', { name: 'path', exact: true }).click(SEEN)
    await page.getByText('signature verified here').waitFor(SEEN)
    expect(page.url()).toBe(`${proxy.url}/ledger?bucket=below&key=path`)

    // an address deeper than the page's own folder leads back to it
    await page.goto(`${proxy.url}/machines`)
    await page.locator('a[href^="/mesh/machines/"]').first().click(SEEN)
    const deep = page.url()
    expect(deep).toMatch(/\/mesh\/machines\/12D3/)
    await page.reload()
    await page.getByRole('link', { name: 'Close the panel' }).waitFor(SEEN)
    expect(page.url()).toBe(deep)
    expect(misdeeds.elsewhere).toEqual([])
    // the panel asks for the VPN, which an API alone has not
    const unexpected = misdeeds.complaints.filter((complaint) => !/\/api\/vpn|status of 404/.test(complaint))
    expect(unexpected).toEqual([])
    await page.close()
    proxy.close()
  })

  test('says how old it is when the node is gone, and keeps what it knows', async () => {
    const { built, browser } = browsed()
    const leaving = await servePage(built.assets)
    await leaving.ledger.put('notes', 'greeting', '"hello"').settled
    const page = await browser.newPage()
    await page.goto(`${leaving.url}/ledger?bucket=notes`)
    await page.getByText('live', { exact: true }).waitFor(SEEN)
    await page.getByText('hello', { exact: true }).waitFor(SEEN)
    await leaving.stop()
    await page.getByText('not connected').waitFor(SEEN)
    await page.getByText('hello', { exact: true }).waitFor(SEEN)
    expect(await page.getByText(/^\d+ s old$/).textContent()).toMatch(/ s old/)
    await page.close()
  })

  test('a node that takes connections and answers nothing is noticed within ten seconds', async () => {
    const { node, browser } = browsed()
    const relay = await createRelay(node.url)
    const page = await browser.newPage()
    await page.goto(relay.url)
    await page.getByText('live', { exact: true }).waitFor(SEEN)
    await page.getByText('Everything is working.').waitFor(SEEN)
    relay.hang()
    await page.getByText('not connected').waitFor({ timeout: 10_500 })
    await page.getByText(/^This node does not answer/).waitFor(SEEN)
    expect(await page.getByText('Everything is working.').count()).toBe(0)
    relay.goOn()
    await page.getByText('live', { exact: true }).waitFor({ timeout: 25_000 })
    await page.getByText('Everything is working.').waitFor(SEEN)
    await page.close()
    await relay.stop()
  }, 90_000)

  test('shows what happened before it was opened, and keeps its files', async () => {
    const { node, browser } = browsed()
    await fetch(`${node.url}/api/ledger/notes/before/hello`, { method: 'PUT' })
    const page = await browser.newPage()
    const caching = new Map<string, string | undefined>()
    page.on('response', (answer) =>
      caching.set(new URL(answer.url()).pathname, answer.headers()['cache-control']),
    )
    await page.goto(node.url)
    await page.getByRole('link', { name: 'notes/before' }).waitFor(SEEN)
    const assets = [...caching].filter(([path]) => path.startsWith('/assets/'))
    expect(assets.length).toBeGreaterThan(1)
    for (const [, control] of assets) expect(control).toBe('public, max-age=31536000, immutable')
    expect(caching.get('/')).toBe('no-store')
    await page.goto(`${node.url}/no/such`)
    await page.getByRole('heading', { name: 'No such page' }).waitFor(SEEN)
    await page.close()
  })

  test('fits a narrow phone without scrolling sideways', async () => {
    const { node, browser } = browsed()
    const page = await browser.newPage({
      viewport: { width: 360, height: 740 },
      hasTouch: true,
      isMobile: true,
    })
    for (const path of [
      '/',
      '/machines',
      '/names',
      '/names?view=new',
      '/names?view=test&name=git.lab',
      '/services',
      '/services?view=offer',
      '/files?view=offer',
      '/ledger',
      '/ledger?bucket=notes&key=greeting',
      '/exit',
      '/access',
      '/access/rules',
      '/settings',
      '/settings?view=api',
      '/diagnostics',
      '/more',
      '/no/such/page',
    ]) {
      await page.goto(node.url + path)
      await page.getByText('live', { exact: true }).waitFor(SEEN)
      const [content, width] = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
      expect([path, content]).toEqual([path, width])
    }
    await page.close()
  })

  test('says below the name of an exit what it forwards, where there is no room beside it', async () => {
    const { node, browser } = browsed()
    const page = await browser.newPage({ viewport: { width: 360, height: 740 } })
    await page.route('**/api/vpn', (route) => route.fulfill({ json: vpnStatus(null) }))
    await page.goto(`${node.url}/exit`)
    const row = page.getByRole('listitem').filter({ hasText: 'IPv4 and IPv6' }).first()
    await row.waitFor(SEEN)
    const [own, families] = await Promise.all([
      row.boundingBox(),
      row.getByText('IPv4 and IPv6').boundingBox(),
    ])
    expect(families?.x).toBe(own?.x)
    await page.close()
  })
})
