/**
 * What members and peers say of themselves, as somebody says it who means harm, on the pages that show it in a real browser.
 * What the node answers is played: it hands on what it is told.
 */
import { createSigner } from '@mesh/ledger'
import type { Page } from 'playwright-core'
import { describe, expect, test } from 'vitest'
import { browserPath, watchPage } from './support/browser.ts'
import { browseBuiltPage } from './support/built-page.ts'
import { peer } from './support/fake-node.ts'
import { vpnStatus } from './support/vpn-status.ts'

const SEEN = { timeout: 10_000 }
const TEXTS = [
  `<img src=x onerror="globalThis.isHurt=1"><script>globalThis.isHurt=1</script>`,
  'javascript:globalThis.isHurt=1',
  '\u202esan\u2066',
  'n\u200bas',
  'a\u0000b\u001b[31mc\r\n\td',
  '__proto__',
  'constructor',
  'W'.repeat(60_000),
  '\ufdfd'.repeat(300),
]
const rows = TEXTS.map((text, at) => ({
  text,
  id: createSigner(new Uint8Array(32).fill(at + 1)).peerId,
}))
const ids = rows.map(({ id }) => id)
const [first = ''] = ids
const byText = (value: (text: string) => unknown) =>
  Object.fromEntries(rows.map(({ text }) => [text, value(text)]))

/** Answers by path: each text stands in each field that another decides on. */
const ANSWERS: Readonly<Record<string, unknown>> = {
  machines: rows.map(({ text, id }) => ({
    PeerID: id,
    Hostname: text,
    OS: text,
    Arch: text,
    Address: text,
    Addresses: [text, `${text} 2`],
    Version: text,
    Connected: true,
    OnChain: true,
    Online: true,
  })),
  nodes: rows.map(({ id }) => ({ ID: id, Online: true })),
  peers: rows.map(({ text, id }) =>
    peer(id, text, {
      Agent: text,

      LastError: text,
      Addresses: [text],
      Reach: text.slice(0, 240),
    }),
  ),
  services: rows.flatMap(({ text, id }) => [text, 'ssh', 'ssh'].map((Name) => ({ PeerID: id, Name }))),
  files: rows.flatMap(({ text, id }) => [text, 'photos', 'photos'].map((Name) => ({ PeerID: id, Name }))),
  dns: rows.map(({ text }) => ({
    Regex: text,
    Records: JSON.parse(JSON.stringify({ A: text, [text]: text })),
  })),
  'dns/server': {
    Zone: TEXTS[0],
    Listening: TEXTS,
    Names: 0,
    Patterns: 0,
    Cached: 0,
    Forwarders: [],
    Queries: {},
  },
  health: {
    Status: 'warning',
    Problems: rows.map(({ text }) => ({
      Code: 'x',
      Severity: 'warning',
      Title: text,
      Hint: text,
      Since: null,
    })),
  },
  admission: {
    Peerguard: true,
    Gate: false,
    Administrators: [first],
    NeedsApproval: false,
    HoldsKey: true,
    Revoked: false,
    Members: rows.map(({ text, id }) => ({
      PeerID: id,
      Name: text,
      State: 'waiting',
      Administrator: null,
      EndsAt: null,
    })),
    Invites: rows.map(({ text, id }) => ({
      Invite: id,
      Administrator: first,
      Label: text,
      ExpiresAt: '2030-01-01T00:00:00Z',
      MemberForSeconds: null,
      State: 'disputed',
      Claims: ids,
    })),
  },
  'ledger/egress': byText(() => 'ok'),
  'ledger/trustzone': byText((text) => text),
  vpn: vpnStatus(
    { Wanted: first, PeerID: first, Hostname: rows[7]?.text, State: 'up', Families: ['ipv4'], Standby: [] },
    {
      Peers: rows.map(({ text, id }) => ({
        ...vpnStatus(null).Peers[0],
        PeerID: id,
        Hostname: text,
        Addresses: [text],
        OffersExit: ['ipv4'],
      })),
    },
  ),
}

const PAGES = [
  '/',
  '/machines',
  ...ids.map((id) => `/machines/${id}`),
  '/names',
  ...TEXTS.slice(0, 7).map((text) => `/names?pattern=${encodeURIComponent(text)}`),
  '/services',
  ...TEXTS.slice(0, 7).map((text) => `/services?view=connect&name=${encodeURIComponent(text)}`),
  '/files',
  '/guests',
  '/exit',
  '/access',
  '/access/rules',
]

const skipped = browserPath === undefined ? ' (skipped: no Chromium is installed)' : ''

describe.skipIf(browserPath === undefined)(`hostile values in a browser${skipped}`, () => {
  const browsed = browseBuiltPage()

  /** Gives what is wrong with what is shown. */
  function faultsOf(page: Page): Promise<readonly string[]> {
    return page.evaluate(() => {
      const scrollers = [...document.querySelectorAll('main, main *, html')].filter((element) => {
        const { overflowX } = getComputedStyle(element)
        const scrolls = overflowX === 'auto' || overflowX === 'scroll' || element === document.documentElement
        return scrolls && element.scrollWidth > element.clientWidth + 1
      })
      const unseen = /[\p{Cf}\p{Cs}]|(?![\t\n\r])\p{Cc}/u
      return [
        ...scrollers.map(({ className, scrollWidth }) => `wider than it is: ${className} ${scrollWidth}`),
        ...('isHurt' in globalThis ? ['a script ran'] : []),
        ...(unseen.test(document.body.innerText) ? ['what nobody sees is shown as it is'] : []),
      ]
    })
  }

  test.each([
    ['a wide page', { viewport: { width: 1280, height: 900 } }],
    ['a phone', { viewport: { width: 360, height: 740 }, hasTouch: true, isMobile: true }],
  ])(
    'on %s no script runs, nothing is wider than the page, and nothing invisible stays so',
    async (_, options) => {
      const { node, browser } = browsed()
      const page = await browser.newPage(options)
      const misdeeds = await watchPage(page, node.url)
      for (const [path, json] of Object.entries(ANSWERS))
        await page.route(`**/api/${path}`, (route) => route.fulfill({ json }))
      for (const path of ['egress', 'trustzone'])
        await page.route(`**/api/ledger/${path}?*`, (route) =>
          route.fulfill({ json: ANSWERS[`ledger/${path}`] }),
        )
      for (const path of ['vpn/guests', 'node/*'])
        await page.route(`**/api/${path}`, (route) => route.fulfill({ json: [] }))
      const faults: string[] = []
      for (const path of PAGES) {
        await page.goto(node.url + path)
        await page.getByText('live', { exact: true }).waitFor(SEEN)
        await page.waitForFunction(
          () => document.querySelector('[aria-label^="Reading"]') === null,
          undefined,
          SEEN,
        )
        faults.push(...(await faultsOf(page)).map((fault) => `${path.slice(0, 60)}: ${fault}`))
      }
      await page.goto(`${node.url}/access`)
      await page.getByRole('button', { name: /^Let / }).first().waitFor(SEEN)
      await page.goto(`${node.url}/exit`)
      await page.getByRole('button', { name: /^Use W/ }).click(SEEN)
      await page.getByRole('dialog', { name: /^Send all Internet traffic through W/ }).waitFor(SEEN)
      faults.push(...(await faultsOf(page)).map((fault) => `the question: ${fault}`))
      expect(faults).toEqual([])
      expect(await misdeeds.violations()).toEqual([])
      expect(misdeeds.elsewhere).toEqual([])
      expect(misdeeds.complaints).toEqual([])
      await page.close()
    },
    120_000,
  )
})
