/** The page of a real node, beside two others with traffic: every screen, at two widths and in both themes, and writes. */
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { eventually } from '@mesh/testkit'
import type { Browser } from 'playwright-core'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser, watchPage } from '../../web-ui/test/support/browser.ts'
import { createMesh, makeToken, type NodeProcess } from './harness.ts'
import { DESK, expectNoMisdeeds, faultsAtBothWidths, handsOn, SEEN, SLOW, whyNoWalk } from './page-screens.ts'
import { suiteName } from './suite.ts'

const why = whyNoWalk()

describe.skipIf(why !== undefined)(suiteName('the page of three nodes', why), () => {
  const mesh = createMesh()
  const token = makeToken()
  const web = createServer((_req, res) => res.end('hello'))
  let home: NodeProcess
  let near: NodeProcess
  let far: NodeProcess
  let browser: Browser
  let stopTraffic = () => {}

  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, '127.0.0.1', resolve))
    const { port } = web.address() as AddressInfo
    home = await mesh.start({ token, args: ['--name=home', '--peerguard'] })
    const bootstrap = `--discovery-bootstrap-peers=${home.addresses[0]}`
    const others = ['near', 'far'].map((name) => mesh.start({ token, args: [bootstrap, `--name=${name}`] }))
    ;[near, far] = (await Promise.all(others)) as [NodeProcess, NodeProcess]
    const { client } = near
    await eventually(
      () => client.putNodeService({ name: 'wiki', body: { Target: `127.0.0.1:${port}` } }),
      SLOW,
    )
    const piece = { name: 'report.txt', from: '0', of: '5', body: new TextEncoder().encode('hello') }
    await client.uploadNodeFile(piece)
    await far.client.createDns({ body: { Regex: '^git\\.lab\\.$', Records: { A: '10.1.0.5' } }, wait: '5s' })
    await far.client.putJson({ bucket: 'notes', key: 'greeting', body: { text: 'hello' }, wait: '5s' })
    await untilShared(home)
    await home.client.putNodeConnection({ name: 'wiki', body: { Listen: '127.0.0.1:0' } })
    stopTraffic = await startTraffic(home)
    browser = await launchBrowser(browserPath ?? '')
  }, 120_000)
  afterAll(async () => {
    stopTraffic()
    await browser?.close()
    await mesh.cleanUp()
    web.close()
  })

  const screens = (): readonly (readonly [path: string, shows: string])[] => [
    ['/', 'online'],
    ['/map', 'direct'],
    ['/map?view=table', 'near'],
    ['/machines', 'far'],
    [`/machines/${near.id}`, 'Known at'],
    ['/peers', 'near'],
    [`/peers/${far.id}`, 'far'],
    ['/names', '^git\\.lab\\.$'],
    ['/services', 'wiki'],
    ['/services?view=connection&name=wiki', 'Reached on this machine at'],
    ['/files', 'report.txt'],
    ['/files?view=look&name=report.txt', '5 B'],
    ['/guests', 'Guests'],
    ['/exit', 'Exit node'],
    ['/ledger?bucket=notes&key=greeting', 'greeting'],
    ['/blockchain', 'notes'],
    ['/blockchain/1', 'Block 1'],
    ['/access', 'Access'],
    ['/traffic', 'By protocol'],
    ['/diagnostics', 'Discovery'],
    ['/settings', 'api-cors'],
    ['/settings?view=api', 'GET'],
    ['/more', 'Blockchain'],
  ]

  test('every screen on a desk and on a phone, in both themes', async () => {
    const page = await browser.newPage({ viewport: DESK })
    const misdeeds = await watchPage(page, home.url)
    const faults: string[] = []
    for (const [path, shows] of screens()) {
      await page.setViewportSize(DESK)
      await page.goto(home.url + path)
      await page.getByText('live', { exact: true }).first().waitFor(SEEN)
      await page.getByText(shows).filter({ visible: true }).first().waitFor(SEEN)
      const name = path.replaceAll(/\W+/g, '-').slice(1, 20) || 'overview'
      faults.push(...(await faultsAtBothWidths(page, name)))
    }
    expect(faults).toEqual([])
    await expectNoMisdeeds(misdeeds)
    await page.close()
  }, 240_000)

  test('what is written on the page reaches the other nodes', async () => {
    const page = await browser.newPage({ viewport: DESK })
    const misdeeds = await watchPage(page, home.url)
    const open = (path: string) => page.goto(home.url + path)
    const { press, type } = handsOn(page)

    await open('/ledger?bucket=notes&view=new')
    await type('Key', 'from-page')
    await type('Value', 'milk')
    await press('Write')
    await eventually(
      async () => expect(await far.client.getEntry({ bucket: 'notes', key: 'from-page' })).toBe('milk'),
      SLOW,
    )
    await press('Edit')
    await type('Value', 'oat milk')
    await press('Write')
    await eventually(
      async () => expect(await far.client.getEntry({ bucket: 'notes', key: 'from-page' })).toBe('oat milk'),
      SLOW,
    )
    await press('Delete')
    await press('Delete')
    await eventually(
      async () => expect(Object.keys(await far.client.getBucket({ bucket: 'notes' }))).toEqual(['greeting']),
      SLOW,
    )

    await open('/names?view=new')
    await type('Name or pattern', '^printer\\.$')
    await type('Value', '10.1.0.9')
    await press('Write')
    await eventually(
      async () => expect((await far.client.listDns()).map(({ Regex }) => Regex)).toContain('^printer\\.$'),
      SLOW,
    )
    await press('Delete')
    await press('Delete')
    await eventually(
      async () => expect((await far.client.listDns()).map(({ Regex }) => Regex)).toEqual(['^git\\.lab\\.$']),
      SLOW,
    )

    await open('/services?view=offer')
    await type('Name', 'page')
    await type('Target', new URL(home.url).host)
    await press('Offer')
    await eventually(
      async () => expect((await near.client.listServices()).map(({ Name }) => Name)).toContain('page'),
      SLOW,
    )
    await press('Withdraw')
    await press('Withdraw')
    await eventually(
      async () => expect((await near.client.listServices()).map(({ Name }) => Name)).not.toContain('page'),
      SLOW,
    )

    await open('/files')
    const file = { name: 'from page.bin', mimeType: 'text/plain', buffer: Buffer.alloc(1_500_000, 'mesh') }
    await page.getByLabel('Files to offer').setInputFiles(file)
    await eventually(
      async () => expect((await far.client.listFiles()).map(({ Name }) => Name)).toContain('from page.bin'),
      SLOW,
    )
    await page.getByRole('button', { name: 'Receive report.txt', exact: true }).click(SEEN)
    await eventually(async () => {
      const [download] = await home.client.listNodeDownloads()
      expect(download).toMatchObject({ Name: 'report.txt', State: 'received', Verified: true })
    }, SLOW)

    await open('/diagnostics')
    await type('Level', 'info,api=debug')
    await press('Set the level')
    await eventually(async () => expect((await home.client.getLogLevel()).Level).toBe('info,api=debug'))
    await press('Examine this machine')
    await page.getByText('clock', { exact: true }).waitFor(SEEN)

    await open('/machines')
    await press('Add a machine')
    await page.getByText(/^sudo mesh --api --token-file mesh\.token --private/).waitFor(SEEN)

    await open('/peers')
    await press('Connect to an address')
    await type('Address or peer id', far.addresses[0] ?? '')
    await press('Connect')
    await page.getByText('connected, direct').waitFor(SEEN)

    await open('/services?view=connection&name=wiki')
    const openAt = async () => (await near.client.getNodeService({ name: 'wiki' })).OpenConnections
    await eventually(async () => expect(await openAt()).toBeGreaterThan(0), SLOW)
    await press('Disconnect')
    await press('Disconnect')
    await eventually(async () => expect(await openAt()).toBe(0), SLOW)
    expect(await home.client.listNodeConnections()).toEqual([])

    await open(`/peers/${far.id}`)
    const watching = new AbortController()
    const lost = await watchLosses(far, watching.signal)
    await press('Forget')
    await press('Forget')
    await eventually(() => expect(lost).toContain(home.id), SLOW)
    watching.abort()
    await page.getByRole('heading', { name: 'Peers' }).waitFor(SEEN)
    await expectNoMisdeeds(misdeeds)
    await page.close()
  }, 120_000)
})

/** Waits until the node has what the others offer and wrote. */
async function untilShared({ client }: NodeProcess): Promise<void> {
  await eventually(async () => {
    expect(await client.listServices()).toHaveLength(1)
    expect(await client.listFiles()).toHaveLength(1)
    expect(await client.listDns()).toHaveLength(1)
    expect(await client.getEntry({ bucket: 'notes', key: 'greeting' })).toEqual({ text: 'hello' })
  }, SLOW)
}

/** Asks the service of another member again and again. @returns what ends it */
async function startTraffic(node: NodeProcess): Promise<() => void> {
  const listen = await eventually(async () => {
    const { State, Listen } = await node.client.getNodeConnection({ name: 'wiki' })
    expect(State).toBe('connected')
    return Listen
  }, SLOW)
  const ask = () => void fetch(`http://${listen}/`).catch(() => {})
  const timer = setInterval(ask, 200)
  return () => clearInterval(timer)
}

/** Resolves with the peers that the node loses from now on, as a list that grows. */
async function watchLosses({ client }: NodeProcess, signal: AbortSignal): Promise<readonly string[]> {
  const lost: string[] = []
  const opened = Promise.withResolvers<void>()
  const watch = async () => {
    const types = ['peer.disconnected'] as const
    for await (const event of client.events({ types, signal, onState: () => opened.resolve() }))
      if (event.type === 'peer.disconnected') lost.push(event.data.PeerID)
  }
  watch().catch(opened.reject)
  await opened.promise
  return lost
}
