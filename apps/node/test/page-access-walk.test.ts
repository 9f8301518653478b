/** Who may use a network, decided on the page of a real node: an invite, a machine that waits, one that is shut out, the peer gate. */
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { shortPeerId } from '@mesh/core'
import { eventually } from '@mesh/testkit'
import type { Browser, Page } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser, type Misdeeds, watchPage } from '../../web-ui/test/support/browser.ts'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
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
import { suiteName } from './suite.ts'

const why = whyNoWalk()

describe.skipIf(why !== undefined)(suiteName('access on the page of real nodes', why), () => {
  const mesh = createMesh()
  let token = ''
  /** Lets the machine that holds it into the trust zone. */
  let gateArgs: readonly string[] = []
  let home: NodeProcess
  let laptop: NodeProcess
  let tablet: NodeProcess
  let browser: Browser
  let page: Page
  let misdeeds: Misdeeds
  let hands: Hands

  beforeAll(async () => {
    const [tokenFile, stateDir] = [join(mesh.folder, 'token'), mesh.makeFolder()]
    writeFileSync(tokenFile, makeToken(), { mode: 0o600 })
    const [made, key] = await Promise.all([
      print('admin', 'init', `--token-file=${tokenFile}`, `--state-dir=${stateDir}`),
      print('peergater', 'ecdsa-genkey'),
    ])
    token = made
    const [, privateKey = '', publicKey = ''] = /^Private key: (\S+)\nPublic key: (\S+)$/.exec(key) ?? []
    const auth = `--peergate-auth=${JSON.stringify({ ecdsa: { private_key: privateKey } })}`
    gateArgs = ['--peerguard', '--peergate-interval=2s', auth]
    home = await mesh.start({ token, stateDir, args: ['--name=home', ...gateArgs] })
    await home.client.putText({ bucket: 'trustzoneAuth', key: 'ecdsa_1', value: publicKey, wait: '5s' })
    browser = await launchBrowser(browserPath ?? '')
    page = await browser.newPage({ viewport: DESK })
    misdeeds = await watchPage(page, home.url)
    hands = handsOn(page)
    await page.goto(`${home.url}/access`)
  }, 60_000)
  afterAll(async () => {
    await browser?.close()
    await mesh.cleanUp()
  })

  async function print(...args: string[]): Promise<string> {
    const { code, stdout, stderr } = await mesh.run(args)
    expect({ code, stderr: code === 0 ? '' : stderr }).toEqual({ code: 0, stderr: '' })
    return stdout.trim()
  }

  /** A node that dials those that run already. */
  function start(name: string, known: readonly NodeProcess[], args: readonly string[] = []) {
    const bootstrap = `--discovery-bootstrap-peers=${known.map(({ addresses }) => addresses[0]).join(',')}`
    return mesh.start({ token, args: [bootstrap, `--name=${name}`, ...args] })
  }

  /** The row of a machine or an invite on the page. */
  const row = (name: string) => page.getByRole('row').filter({ hasText: name })

  async function stateAt({ client }: NodeProcess, { id }: NodeProcess) {
    return (await client.getAdmission()).Members.find(({ PeerID }) => PeerID === id)?.State
  }

  async function notesAt({ client }: NodeProcess): Promise<string[]> {
    return Object.keys(await client.getBucket({ bucket: 'notes' })).sort()
  }

  async function areConnected({ client }: NodeProcess, { id }: NodeProcess): Promise<boolean> {
    return (await client.listPeers()).some(({ ID, Connected }) => ID === id && Connected)
  }

  test('an invite lets one machine in, which the page shows at once', async () => {
    const { press, type, see } = hands
    await press('Invite a machine')
    await type('For whom', 'laptop of Ada')
    await page.getByLabel('1 hour').check(SEEN)
    await expectSound(page, 'invite-form')
    await press('Make an invite')
    await page.getByRole('img', { name: 'QR code of the invite' }).waitFor(SEEN)
    await see(/^\d+ \w+ \d{4}, \d\d:\d\d:\d\d$/)
    const code = await page.getByRole('button', { name: /^Copy invite code/ }).innerText()
    await see(`mesh://join/${code}`)
    await expectSound(page, 'invite')
    await press('Done')
    await row('laptop of Ada').getByText('open').waitFor(SEEN)
    expect(await page.content()).not.toContain(code)

    laptop = await start('laptop', [home], [...gateArgs, `--invite=${code}`])
    await row('laptop').getByText('let in').waitFor(SEEN)
    await row('laptop of Ada').getByText('used').waitFor(SEEN)
    await eventually(async () => expect(await stateAt(laptop, laptop)).toBe('admitted'), SLOW)
  }, 60_000)

  test('a machine that waits is let in, and an invite that is cancelled lets nobody in', async () => {
    const { press, type, see } = hands
    await page.goto(`${home.url}/machines`)
    await press('Add a machine')
    await type('For whom', 'lost phone')
    await press('Make an invite')
    await see(/--invite mesh-invite-/)
    await expectSound(page, 'add-machine')
    await page.goto(`${home.url}/access`)
    tablet = await start('tablet', [home, laptop])
    // nobody hears of its name before it is in
    const waiting = shortPeerId(tablet.id)
    await row(waiting).getByText('waits to be let in').waitFor(SEEN)
    await expectSound(page, 'access-waiting')
    await row(waiting)
      .getByRole('button', { name: /^Let in / })
      .click(SEEN)
    await see('3 machines are let in. Nobody waits.')
    await row('tablet').getByText('let in').waitFor(SEEN)
    await eventually(async () => {
      expect(await stateAt(laptop, tablet)).toBe('admitted')
      expect(await areConnected(laptop, tablet)).toBe(true)
    }, SLOW)

    await press('Cancel')
    await press('Cancel the invite')
    await row('lost phone').getByText('cancelled').waitFor(SEEN)
    await eventually(async () => {
      const { Invites } = await laptop.client.getAdmission()
      expect(Invites.find(({ Label }) => Label === 'lost phone')?.State).toBe('cancelled')
    }, SLOW)
  }, 60_000)

  test('the peer gate lets only the trust zone pass, until it is off', async () => {
    const { press, see } = hands
    await eventually(async () => {
      const zone = Object.keys(await home.client.getBucket({ bucket: 'trustzone' }))
      expect(zone.sort()).toEqual([home.id, laptop.id].sort())
    }, SLOW)
    const gate = page.getByRole('switch', { name: 'Peer gate' })
    await gate.click(SEEN)
    await expectSound(page, 'gate-on')
    await press('Switch on')
    await see('only the trust zone passes')
    await tablet.client.putText({ bucket: 'notes', key: 'tablet', value: '1', wait: '5s' })
    await eventually(async () => expect(await notesAt(laptop)).toEqual(['tablet']), SLOW)
    await laptop.client.putText({ bucket: 'notes', key: 'laptop', value: '2', wait: '5s' })
    await eventually(async () => expect(await notesAt(home)).toEqual(['laptop']), SLOW)
    await expectSound(page, 'access')
    await gate.click(SEEN)
    await see('everybody passes')
    await eventually(async () => expect(await notesAt(home)).toEqual(['laptop', 'tablet']), SLOW)
  }, 60_000)

  test('a machine that is shut out is out on all nodes', async () => {
    const { press, see } = hands
    await press('Shut out tablet')
    await expectSound(page, 'shut-out')
    await press('Shut out')
    await see('2 machines are let in, 1 shut out. Nobody waits.')
    await eventually(async () => {
      for (const node of [home, laptop]) {
        expect(await stateAt(node, tablet)).toBe('revoked')
        expect(await areConnected(node, tablet)).toBe(false)
      }
    }, SLOW)
    const other = await browser.newPage({ viewport: DESK })
    await other.goto(`${tablet.url}/access`)
    await handsOn(other).see('This node itself was shut out')
    await expectSound(other, 'access-shut-out')
    await expectNoMisdeeds(misdeeds)
  }, 60_000)
})
