/**
 * A tab of Chromium as a member of three real nodes in network namespaces, one of them behind a NAT: it joins by an invite
 * at `/join`, reads, writes, fetches a service of the node behind the NAT, and is out soon after it was revoked.
 */
import { chmodSync, writeFileSync } from 'node:fs'
import { createServer } from 'node:http'
import { join } from 'node:path'
import { createNatsLab, eventually, type Lab, whyNoNamespaces } from '@mesh/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser, type Misdeeds, watchPage } from '../../web-ui/test/support/browser.ts'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { expectNoMisdeeds, handsOn, SEEN, SLOW, whyNoWalk } from './page-screens.ts'
import { suiteName } from './suite.ts'

const why = whyNoWalk() ?? whyNoNamespaces(['ip', 'nft', 'sysctl'])
/** How long a tab may stay a member after it was revoked, in ms. */
const OUT_WITHIN_MS = 5_000
/** Not a secure context: browsers leave out much of their cryptography there. */
const ORIGIN = 'http://5.5.5.1:8080'
/** What Chromium says of headers that count over HTTPS alone. */
const OVER_HTTP = /Cross-Origin-Opener-Policy header has been ignored/
/** Nothing outside of the namespaces to find. */
const BASE_ARGS = ['--private', '--mdns=false', '--dht=false']

describe.skipIf(why !== undefined)(suiteName('a browser tab as a member', why), () => {
  const mesh = createMesh()
  const web = createServer((request, response) => response.end(`behind the NAT: ${request.url}`))
  let lab: Lab
  let token = ''
  /** Serves the page. */
  let gate: NodeProcess
  /** Holds the administrator's key. */
  let home: NodeProcess
  /** Offers the service, behind a NAT. */
  let hidden: NodeProcess
  let browser: Browser
  let page: Page
  let misdeeds: Misdeeds
  /** All that the page sent anywhere, as text. */
  const sent: string[] = []

  async function print(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await mesh.run(args)
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.trim()
  }

  const admin = (...args: string[]) => print('admin', ...args, `--api-url=unix://${home.controlSocket}`)

  const invite = async () =>
    (JSON.parse(await admin('invite', '--label=tab', '--json')) as { readonly Code: string }).Code

  const addressOf = ({ addresses }: NodeProcess, ip: string) =>
    addresses.find((address) => address.includes(`/${ip}/tcp/`))

  const start = (host: string, args: readonly string[], stateDir?: string) =>
    mesh.start({
      token,
      prefix: lab.inside(host, []),
      baseArgs: BASE_ARGS,
      args: [`--name=${host}`, ...args],
      ...(stateDir !== undefined && { stateDir }),
    })

  /** The node of the tab is connected to the provider, and holds what the others wrote. */
  async function untilMet(): Promise<void> {
    const peers = await gate.control.listPeers()
    expect(peers).toContainEqual(expect.objectContaining({ ID: hidden.id, Path: 'direct' }))
    expect((await gate.control.listServices()).map(({ Name }) => Name)).toContain('wiki')
    expect(await gate.control.getEntry({ bucket: 'notes', key: 'greeting' })).toEqual({ text: 'hello' })
  }

  /** A browser on the machine `desk`. */
  function launchInside(host: string): Promise<Browser> {
    const script = join(mesh.folder, 'browser')
    writeFileSync(script, `#!/bin/sh\nexec ${lab.inside(host, [browserPath ?? '']).join(' ')} "$@"\n`)
    chmodSync(script, 0o755)
    return launchBrowser(script)
  }

  function recordSent(): void {
    page.on('request', (request) => sent.push(request.url(), request.postData() ?? ''))
    page.on('websocket', (socket) =>
      socket.on('framesent', ({ payload }) => sent.push(Buffer.from(payload).toString('latin1'))),
    )
  }

  beforeAll(async () => {
    lab = createNatsLab({ hidden: 'fully-random' }, { home: '5.5.5.11', desk: '5.5.5.12' })
    const [tokenFile, stateDir, socket] = [
      join(mesh.folder, 'token'),
      mesh.makeFolder(),
      join(mesh.folder, 'web.sock'),
    ]
    await new Promise<void>((resolve) => web.listen(socket, resolve))
    writeFileSync(tokenFile, makeToken(), { mode: 0o600 })
    token = await print('admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${stateDir}`)
    const launched = launchInside('desk')
    home = await start('home', [], stateDir)
    gate = await start('open', [
      `--discovery-bootstrap-peers=${addressOf(home, '5.5.5.11')}`,
      `--invite=${await invite()}`,
      '--listen=5.5.5.1:8080',
      '--browser-members',
    ])
    hidden = await start('hidden', [
      `--discovery-bootstrap-peers=${addressOf(gate, '5.5.5.1')}`,
      `--invite=${await invite()}`,
      `--service-add=wiki=unix:${socket}`,
    ])
    await home.control.putJson({ bucket: 'notes', key: 'greeting', body: { text: 'hello' }, wait: '5s' })
    await eventually(untilMet, SLOW)
    browser = await launched
    page = await browser.newPage()
    misdeeds = await watchPage(page, ORIGIN)
    recordSent()
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await mesh.cleanUp()
    lab?.close()
    web.close()
  })

  const stateOf = () => page.locator('#state').getAttribute('data-state')

  test('a tab joins by an invite at /join; the token stays in it', async () => {
    const code = await invite()
    const secrets = new URLSearchParams({ token, invite: code })
    await page.goto(`${ORIGIN}/join#${secrets}`)
    expect(await page.evaluate(() => location.href)).toBe(`${ORIGIN}/join`)
    await handsOn(page).press('Join')
    await page.locator('#state[data-state=joined]').waitFor(SEEN)
    for (const { id } of [gate, home, hidden]) await handsOn(page).see(new RegExp(id))
    expect(sent.length).toBeGreaterThan(10)
    for (const secret of [token, code]) expect(sent.filter((text) => text.includes(secret))).toEqual([])
    await expectNoMisdeeds({
      ...misdeeds,
      complaints: misdeeds.complaints.filter((text) => !OVER_HTTP.test(text)),
    })
  }, 60_000)

  test('it reads what nodes wrote, and nodes read what it wrote', async () => {
    const { press, type, see } = handsOn(page)
    await see('{"text":"hello"}')
    await type('Key', 'from-tab')
    await type('Value', '{"milk":2}')
    await press('Write')
    await eventually(async () => {
      for (const { control } of [gate, home, hidden])
        expect(await control.getEntry({ bucket: 'notes', key: 'from-tab' })).toEqual({ milk: 2 })
    }, SLOW)
  }, 60_000)

  test('it fetches a service of the node behind the NAT, over the node that it joined by', async () => {
    const { press, type, see } = handsOn(page)
    await type('Address', 'http://wiki.svc.mesh/page?q=1')
    await press('Fetch')
    await see('behind the NAT: /page?q=1')
    expect(await page.locator('#members').textContent()).toContain(`${hidden.id}: relayed`)
    await expectNoMisdeeds({
      ...misdeeds,
      complaints: misdeeds.complaints.filter((text) => !OVER_HTTP.test(text)),
    })
  }, 60_000)

  test('it is out soon after it was revoked', async () => {
    const id = (await page.locator('#state').textContent())?.split(':')[0] ?? ''
    const isOnline = async () => (await gate.control.listPeerstore()).find(({ ID }) => ID === id)?.Online
    await admin('revoke', id)
    await eventually(
      async () => {
        expect(await stateOf()).not.toBe('joined')
        expect(await isOnline()).not.toBe(true)
      },
      { withinMs: OUT_WITHIN_MS },
    )
    const { press, type } = handsOn(page)
    await type('Key', 'too-late')
    await type('Value', '1')
    await press('Write')
    await type('Address', 'http://wiki.svc.mesh/')
    await press('Fetch')
    await page.locator('#problem').filter({ visible: true }).waitFor(SEEN)
    for (const { control } of [gate, home, hidden])
      expect(Object.keys(await control.getBucket({ bucket: 'notes' }))).not.toContain('too-late')
  }, 60_000)
})
