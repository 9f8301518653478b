import { join } from 'node:path'
import { createClient } from '@mesh/api-client'
import { type RouteDefinition, type RouteId, routes } from '@mesh/api-contract'
import { eventually } from '@mesh/testkit'
import type { AddressInfo } from 'node:net'
import { createServer, type ViteDevServer } from 'vite'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { browserPath, launchBrowser, watchPage } from './support/browser.ts'
import { signerAt } from './support/fake-network.ts'

/** What the routes with parameters are asked for. */
const PARAMS = {
  peer: signerAt(0).peerId,
  machine: 'nas',
  name: 'wiki',
  bucket: 'services',
  key: 'wiki',
  index: '1',
  protocol: '/mesh/bulk/1',
  from: 'nas',
  to: 'desk',
  on: 'tcp:443',
}

const routesOf = Object.entries(routes) as [RouteId, RouteDefinition][]
/** The stream of events, and what only a node with access rules knows. */
const NOT_ASKED: ReadonlySet<string> = new Set(['watchEvents', 'getRulesSchema'])
const reads = routesOf.filter(([id, { method }]) => method === 'GET' && !NOT_ASKED.has(id))

describe('the development server without a node', () => {
  let server: ViteDevServer
  let url: string
  beforeAll(async () => {
    const root = join(import.meta.dirname, '..')
    server = await createServer({ root, logLevel: 'error', server: { port: 0, hmr: false, watch: null } })
    await server.listen()
    url = `http://127.0.0.1:${(server.httpServer?.address() as AddressInfo | undefined)?.port}`
  })
  afterAll(() => server.close())

  test.each(reads.map(([id]) => id))('answers %s as the contract has it', async (id) => {
    const client = createClient({ baseUrl: url, retries: 0 })
    const ask = client[id as Exclude<RouteId, 'watchEvents'>] as (input: object) => Promise<unknown>
    const answer = await ask(PARAMS)
    // the development server answers with the page where it does not ask the node
    expect(typeof answer === 'string' && answer.startsWith('<!doctype')).toBe(false)
  })

  test('has a network of 30 that changes, and takes writes', async () => {
    const client = createClient({ baseUrl: url })
    expect(await client.listMachines({})).toHaveLength(30)
    await client.putText({ bucket: 'notes', key: 'a', value: 'written' })
    expect(await client.getEntry({ bucket: 'notes', key: 'a' })).toBe('written')
    const { BlockChain } = await client.getSummary({})
    await eventually(async () => expect((await client.getSummary({})).BlockChain).toBeGreaterThan(BlockChain))
  })

  test.skipIf(browserPath === undefined)('shows all parts in both themes', async () => {
    const browser = await launchBrowser(browserPath ?? '')
    const page = await browser.newPage()
    const { complaints, elsewhere } = await watchPage(page, url)
    await page.goto(`${url}/dev/parts`)
    for (const theme of ['light', 'dark']) {
      const frame = page.frameLocator(`iframe[title=${theme}]`)
      await frame.getByRole('heading', { name: 'QR code' }).waitFor()
      await frame.getByRole('button', { name: 'Open a dialog' }).click()
      await frame.getByRole('dialog').waitFor()
    }
    expect([complaints, elsewhere]).toEqual([[], []])
    await browser.close()
  })
})
