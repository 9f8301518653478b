/** The page's dialogs in a browser, where focus, Escape and layout are real; what the node says of access and guests is played. */
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browserPath } from './support/browser.ts'
import { browseBuiltPage } from './support/built-page.ts'

const SEEN = { timeout: 10_000 }
const PHONE = { viewport: { width: 390, height: 844 }, hasTouch: true, isMobile: true }
const LONG = 'a-tablet-with-a-long-name-of-my-aunt-who-lives-at-the-sea'
const ADMIN = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const NAS = '12D3KooWCd3eX8r5ihRvzK7P1yPq5aakaBJhG5GNj18YTztPhoCa'

const admission = {
  Peerguard: false,
  Gate: false,
  Administrators: [ADMIN],
  NeedsApproval: false,
  HoldsKey: true,
  Revoked: false,
  Members: [{ PeerID: NAS, Name: 'nas', State: 'admitted', Administrator: ADMIN, EndsAt: null }],
  Invites: [],
}
const guest = (Name: string) => ({
  Name,
  Address: '10.1.0.9',
  Address6: 'fd00:1::1984:5c26:888d:3712',
  PublicKey: 'AAAA',
  AddedAt: '2026-01-01T00:00:00.000Z',
  FullTunnel: true,
  NodeEndpoint: '192.0.2.7:51820',
  NodeMoved: true,
  Handshake: null,
  Endpoint: null,
  PacketsIn: 0,
  PacketsOut: 0,
  BytesIn: 2_400,
  BytesOut: 0,
})
const configuration = `[Interface]\nPrivateKey = ${'x'.repeat(44)}\nAddress = 10.1.0.9/32\n`

const skipped = browserPath === undefined ? ' (skipped: no Chromium is installed)' : ''

describe.skipIf(browserPath === undefined)(`dialogs in a browser${skipped}`, () => {
  const browsed = browseBuiltPage()

  /** Opens the page, with answers of a node that decides who is in and has guests; gives what was asked for by writing. */
  async function open(path: string, options = {}) {
    const { node, browser } = browsed()
    const page = await browser.newPage(options)
    const written: string[] = []
    const play = (pattern: string, answer: (method: string) => unknown) =>
      page.route(pattern, (route, request) => {
        if (request.method() !== 'GET') written.push(`${request.method()} ${new URL(request.url()).pathname}`)
        return route.fulfill({ json: answer(request.method()) })
      })
    await play('**/api/admission', () => admission)
    await play('**/api/admission/members/*', () => ({ State: 'Stated' }))
    await play('**/api/admission/invites', () => ({
      Invite: NAS,
      Code: `mesh-invite-${'c'.repeat(43)}`,
      Link: `mesh://join/mesh-invite-${'c'.repeat(43)}`,
      ExpiresAt: '2030-01-01T00:00:00Z',
    }))
    await play('**/api/vpn/guests', (method) =>
      method === 'GET'
        ? [guest('phone'), guest(LONG)]
        : { ...guest('new'), Endpoint: '192.0.2.7:51820', Configuration: configuration },
    )
    await page.goto(node.url + path)
    return { page, written }
  }

  const focused = (page: Page) => page.evaluate(() => document.activeElement?.textContent ?? '')

  test('a question has the focus at its answer: Escape changes nothing and gives the focus back, Enter answers', async () => {
    const { page, written } = await open('/access')
    const opener = page.getByRole('button', { name: /^Shut out nas \(.{8}\)$/ })
    const dialog = page.getByRole('dialog', { name: /^Shut nas \(.{8}\) out\?$/ })
    await opener.press('Enter', SEEN)
    await dialog.waitFor(SEEN)
    expect(await focused(page)).toBe('Shut out')
    await page.keyboard.press('Tab')
    expect(await focused(page)).toBe('Leave it')
    await page.keyboard.press('Escape')
    await dialog.waitFor({ state: 'detached', ...SEEN })
    expect(await opener.evaluate((element) => element === document.activeElement)).toBe(true)
    expect(written).toEqual([])
    await page.keyboard.press('Enter')
    await dialog.waitFor(SEEN)
    await page.keyboard.press('Enter')
    await dialog.waitFor({ state: 'detached', ...SEEN })
    await expect.poll(() => written).toEqual([`PUT /api/admission/members/${NAS}`])
    await page.close()
  })

  test('who answers by keyboard stays at the button, whatever that says then', async () => {
    const { page } = await open('/access')
    const played = { ...admission, Peerguard: true }
    await page.route('**/api/admission', (route) => route.fulfill({ json: played }))
    await page.route('**/api/peergate/*', (route) => {
      played.Gate = true
      return route.fulfill({ json: true })
    })
    await page.route('**/api/admission/members/*', (route) => {
      played.Members = [{ PeerID: NAS, Name: 'nas', State: 'revoked', Administrator: ADMIN, EndsAt: null }]
      return route.fulfill({ json: { State: 'Stated' } })
    })
    await page.reload()
    await page.getByRole('switch', { name: 'Peer gate' }).press('Enter', SEEN)
    await page.getByRole('dialog', { name: 'Switch the peer gate on?' }).waitFor(SEEN)
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page), SEEN).toBe('Switch off')
    await page.getByRole('button', { name: /^Shut out nas \(.{8}\)$/ }).press('Enter', SEEN)
    await page.getByRole('dialog', { name: /^Shut nas \(.{8}\) out\?$/ }).waitFor(SEEN)
    await page.keyboard.press('Enter')
    await expect.poll(() => focused(page), SEEN).toBe('Let in again')
    await page.close()
  })

  test('a press beside a question closes it; one that only ends there, and one beside an invite, do not', async () => {
    const { page } = await open('/access')
    const question = page.getByRole('dialog', { name: /^Shut nas \(.{8}\) out\?$/ })
    await page.getByRole('button', { name: /^Shut out nas \(.{8}\)$/ }).click(SEEN)
    const { x = 0, y = 0 } = (await question.locator('p').first().boundingBox()) ?? {}
    await page.mouse.move(x + 5, y + 5)
    await page.mouse.down()
    await page.mouse.move(5, 5)
    await page.mouse.up()
    expect(await question.count()).toBe(1)
    await page.mouse.click(5, 5)
    await question.waitFor({ state: 'detached', ...SEEN })

    await page.getByRole('button', { name: 'Invite a machine' }).click()
    await page.getByLabel('For whom').fill('laptop')
    await page.keyboard.press('Enter')
    await page.getByRole('img', { name: 'QR code of the invite' }).waitFor(SEEN)
    expect(await focused(page)).toContain('mesh-invite-')
    await page.mouse.click(5, 5)
    expect(await page.getByRole('dialog', { name: 'Invite a machine' }).count()).toBe(1)
    await page.getByRole('button', { name: 'Done' }).click()
    await page.getByRole('dialog').waitFor({ state: 'detached', ...SEEN })
    await page.close()
  })

  test('what was refused leaves the focus at the button, and the reason beside it', async () => {
    const { page } = await open('/access')
    await page.route('**/api/admission/invites', async (route) => {
      await new Promise((resolve) => setImmediate(resolve))
      const body = {
        Code: 'http.bad_body',
        Message: 'no',
        Hint: 'Choose another.',
        RequestID: '1',
        Issues: [],
      }
      return route.fulfill({ status: 400, json: body })
    })
    await page.getByRole('button', { name: 'Invite a machine' }).click(SEEN)
    const submit = page.getByRole('button', { name: 'Make an invite' })
    await submit.press('Enter')
    await page.getByRole('dialog').getByRole('alert').getByText('Choose another.').waitFor(SEEN)
    expect(await focused(page)).toBe('Make an invite')
    await page.close()
  })

  test('an address that names no panel shows the list on a phone', async () => {
    const { node } = browsed()
    const { page } = await open('/more', PHONE)
    for (const [path, heading] of [
      ['/machines', 'Machines'],
      ['/files?view=nothing', 'Files'],
      ['/files?view=service', 'Files'],
      ['/services?view=file', 'Services'],
      ['/names?view=x', 'Names'],
      ['/ledger?view=x', 'Ledger'],
    ] as const) {
      await page.goto(node.url + path)
      await page.getByRole('heading', { level: 1, name: heading }).waitFor(SEEN)
      expect([path, await page.getByRole('heading', { level: 1 }).isVisible()]).toEqual([path, true])
    }
    await page.close()
  })

  test.each([
    ['a phone', PHONE],
    ['a desk', { viewport: { width: 1280, height: 800 } }],
  ])('guests with long names stand whole on %s, each in its row', async (_where, options) => {
    const { page } = await open('/guests', options)
    await page.getByText(LONG).waitFor(SEEN)
    const rows = page.getByRole('region', { name: 'Guests of this node' }).getByRole('listitem')
    const width = options.viewport.width
    for (const row of await rows.all()) {
      const boxes = await row.evaluate((item) =>
        [item, ...item.querySelectorAll('*')].map((element) => {
          const { left, right, top, bottom } = element.getBoundingClientRect()
          return { left, right, top, bottom }
        }),
      )
      expect(boxes.filter(({ left, right }) => left < 0 || right > width)).toEqual([])
      const [name, button] = await Promise.all([
        row.locator('span').first().boundingBox(),
        row.getByRole('button', { name: /^Remove/ }).boundingBox(),
      ])
      // the button is beside the name, not below all
      expect((button?.y ?? 0) < (name?.y ?? 0) + (name?.height ?? 0) + (button?.height ?? 0)).toBe(true)
      expect((button?.x ?? 0) > (name?.x ?? 0) + (name?.width ?? 0)).toBe(true)
    }
    await page.getByRole('textbox', { name: 'Name' }).fill('new')
    await page.keyboard.press('Enter')
    await page.getByRole('img', { name: 'QR code of the configuration of new' }).waitFor(SEEN)
    expect(await focused(page)).toBe('Configuration of new')
    const sides = await page.evaluate(() => [document.documentElement.scrollWidth, innerWidth])
    expect(sides[0]).toBe(sides[1])
    await page.close()
  })
})
