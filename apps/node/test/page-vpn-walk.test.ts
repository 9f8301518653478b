/**
 * Guests, the exit node and VPN traffic on the page of a real node with the VPN: what is done on the page, the kernels of
 * the machine, of its exit and of the Internet tell.
 */
import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { createLab, eventually, findWireguardGo, type Lab } from '@mesh/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser, type Misdeeds, watchPage } from '../../web-ui/test/support/browser.ts'
import { EXIT, EXIT_HOSTS, FAR, USER, wireExit } from './exit-lab.ts'
import {
  DESK,
  expectNoMisdeeds,
  expectSound,
  type Hands,
  handsOn,
  SEEN,
  SLOW,
  whyNoWalk,
} from './page-screens.ts'
import { startStockWireguard, type StockWireguard, valueOf } from './stock-wireguard.ts'
import { suiteName } from './suite.ts'
import { createVpnLab, type Machine, ping, pingSoon, type VpnLab, whyNoVpn } from './vpn-lab.ts'

const wireguardGo = findWireguardGo(['wg'])
const why =
  whyNoWalk() ??
  whyNoVpn(['ip', 'nft', 'ping', 'wg']) ??
  ('skipped' in wireguardGo ? wireguardGo.skipped : undefined)
const PAGE = 'http://127.0.0.1:8080'
/** An address of the VPN that nobody has. */
const NOBODY = '10.1.0.99'

/** Counts what comes to somebody in the Internet, by the machine that it comes from. */
const COUNTERS = `table inet count {
  counter own { }
  counter byExit { }
  chain in {
    type filter hook prerouting priority -300; policy accept;
    ip saddr ${USER} ip daddr ${FAR} counter name own
    ip saddr ${EXIT} ip daddr ${FAR} counter name byExit
  }
}`

describe.skipIf(why !== undefined)(suiteName('the page of a node with the VPN', why), () => {
  let lab: Lab
  let vpn: VpnLab
  let node: Machine
  let exit: Machine
  let app: StockWireguard | undefined
  let browser: Browser
  let page: Page
  let misdeeds: Misdeeds
  let hands: Hands

  beforeAll(async () => {
    lab = createLab([...EXIT_HOSTS, 'phone'])
    wireExit(lab, COUNTERS)
    lab.wire(
      { host: 'user', device: 'eth1', addresses: ['192.168.7.1/24'] },
      { host: 'phone', device: 'eth0', addresses: ['192.168.7.2/24'] },
    )
    vpn = createVpnLab(lab)
    const place = (host: number) => ['--mdns=false', `--address=10.1.0.${host}/24`]
    exit = await vpn.start('exit', [...place(1), '--name=gate', '--advertise-exit'])
    const bootstrap = exit.addresses.filter((address) => address.includes(`/${EXIT}/tcp/`))
    node = await vpn.start('user', [
      ...place(2),
      '--name=desk',
      '--api',
      '--fwmark=51820',
      `--discovery-bootstrap-peers=${bootstrap.join(',')}`,
    ])
    await pingSoon(lab, 'user', exit.v4)
    browser = await launchBrowser(writeBrowserOf('user'))
    page = await browser.newPage({ viewport: DESK })
    misdeeds = await watchPage(page, PAGE)
    hands = handsOn(page)
  }, 120_000)
  afterAll(async () => {
    await browser?.close()
    await app?.stop()
    await vpn?.close()
  })

  /** A program that is the browser, run inside the host: there the page is on loopback. @returns its path */
  function writeBrowserOf(host: string): string {
    const path = join(vpn.mesh.folder, 'browser')
    writeFileSync(path, `#!/bin/sh\nexec ${lab.inside(host, [browserPath ?? '']).join(' ')} "$@"\n`)
    chmodSync(path, 0o755)
    return path
  }

  async function open(path: string): Promise<void> {
    await page.goto(PAGE + path)
    await page.getByText('live', { exact: true }).first().waitFor(SEEN)
  }

  /** Packets that came from the machine itself, and by its exit node. */
  function counted(name: 'own' | 'byExit'): number {
    const text = lab.run('net', ['nft', 'list', 'counter', 'inet', 'count', name])
    return Number(/packets (\d+)/.exec(text)?.[1])
  }

  test('a guest gets its configuration once, is carried for, and is cut off when it is removed', async () => {
    const { press, type, see } = hands
    await open('/guests')
    await type('Name', 'phone')
    await type('Where it finds this node (may be empty)', '192.168.7.1')
    await press('Add guest')
    await page.getByRole('img', { name: 'QR code of the configuration of phone' }).waitFor(SEEN)
    const configuration = await page.locator('pre').innerText()
    const [address = ''] = valueOf(configuration, 'Address').split('/')
    await expectSound(page, 'guest-added')
    await press('Done')
    await page.reload()
    await see('never seen')
    expect(await page.content()).not.toContain(valueOf(configuration, 'PrivateKey'))

    const file = 'file' in wireguardGo ? wireguardGo.file : ''
    app = await startStockWireguard({ lab, host: 'phone', file, device: 'wgphone', configuration })
    await pingSoon(lab, 'phone', node.v4)
    await pingSoon(lab, 'exit', address)
    await node.control.createGuest({ body: { Name: 'office-router' } })
    await page.getByRole('listitem').filter({ hasText: 'phone' }).locator('time').waitFor(SEEN)
    await expectSound(page, 'guests')

    await press('Remove phone')
    await press('Remove')
    await eventually(
      async () =>
        expect((await node.control.listGuests()).map(({ Name }) => Name)).toEqual(['office-router']),
      SLOW,
    )
    await page.getByText('phone', { exact: true }).waitFor({ ...SEEN, state: 'detached' })
    await expect(ping(lab, 'phone', node.v4, { count: 1, withinS: 1 })).rejects.toThrow('ping')
  }, 60_000)

  test('an exit node is chosen and left on the page, and packets go that way', async () => {
    const { press, see } = hands
    await open('/exit')
    await press('Use gate')
    await expectSound(page, 'exit-asked')
    await press('Use it')
    await see('in use')
    await pingSoon(lab, 'user', FAR)
    expect([counted('byExit') > 0, counted('own')]).toEqual([true, 0])
    await expectSound(page, 'exit')

    await press('Stop using it')
    await press('Stop using it')
    await see('Internet traffic leaves this machine directly.')
    await eventually(() => expect(lab.run('user', ['ip', 'rule', 'show'])).not.toContain('5107:'), SLOW)
    await pingSoon(lab, 'user', FAR)
    expect(counted('own')).toBeGreaterThan(0)
    await expectSound(page, 'exit-none')
  }, 60_000)

  test("the machine's panel pings it through the VPN, as a line", async () => {
    const { press, see } = hands
    await open(`/machines/${exit.id}`)
    await press('Ping')
    await see(/[3-9] sent, none lost/)
    await expectSound(page, 'machine-ping')
    const line = page
      .getByRole('img', { name: /sent, none lost/ })
      .locator('path')
      .nth(1)
    expect(await line.getAttribute('d')).toMatch(/^M[\d. ]+h0(L[\d. ]+){2,}$/)
    await press('Stop')
  }, 60_000)

  test('packets of the VPN are counted, and dropped ones have their reason', async () => {
    const { see } = hands
    await expect(ping(lab, 'user', NOBODY, { count: 3, withinS: 1 })).rejects.toThrow('ping')
    await open('/traffic')
    await see('No machine has the destination address.')
    await see('VPN packets')
    await expectSound(page, 'traffic-vpn', page.getByText('No machine has the destination address.'))
    await expectNoMisdeeds(misdeeds)
  }, 60_000)
})
