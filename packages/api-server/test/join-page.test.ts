/** The page for browser members: served where the node has it, and allowed to connect to this node alone. */
import { gzipSync } from 'node:zlib'
import { afterEach, expect, test } from 'vitest'
import { startTestNode, type TestNode } from './fixture.ts'

const PAGE = '<script src="./assets/index-BvuVqRJg.js"></script>'
const ADDRESS = { address: '/ip4/127.0.0.1/tcp/4002/ws/p2p/ID', origin: 'ws://127.0.0.1:4002' }
let node: TestNode | undefined
afterEach(() => node?.stop())

const get = (path: string, init?: RequestInit) => fetch(`${node?.listener.url}${path}`, init)

async function startJoinNode(): Promise<string[]> {
  const hosts: string[] = []
  node = await startTestNode({
    components: {
      browserMembers: {
        assets: {
          get: (path) =>
            path === '/index.html'
              ? { bytes: gzipSync(PAGE), type: 'text/html', encoding: 'gzip' }
              : path === '/assets/index-BvuVqRJg.js'
                ? { bytes: Buffer.from('code'), type: 'text/javascript' }
                : undefined,
        },
        nodes(host) {
          hosts.push(host)
          return [ADDRESS]
        },
      },
    },
  })
  return hosts
}

test('it is at /join and /join/, and its files are found from both', async () => {
  await startJoinNode()
  expect(await (await get('/join')).text()).toBe(PAGE.replace('./', './join/'))
  expect(await (await get('/join/')).text()).toBe(PAGE)
  const file = await get('/join/assets/index-BvuVqRJg.js')
  expect([await file.text(), file.headers.get('cache-control')]).toEqual([
    'code',
    'public, max-age=31536000, immutable',
  ])
  expect((await get('/join/missing.js')).status).toBe(404)
  expect((await get('/join/%zz.js')).status).toBe((await get('/%zz.js')).status)
  expect((await get('/join', { method: 'POST' })).status).toBe(404)
  expect(await (await get('/joined')).text()).not.toBe(PAGE)
})

test('it is told where it connects under the name that was asked for, and may connect nowhere else', async () => {
  const hosts = await startJoinNode()
  const answer = await get('/join/nodes.json')
  expect(await answer.json()).toEqual({ Nodes: [ADDRESS.address] })
  expect(hosts).toEqual(['127.0.0.1'])
  const policy = (await get('/join')).headers.get('content-security-policy')
  expect(policy).toContain("connect-src 'self' ws://127.0.0.1:4002;")
  expect(policy).toContain("default-src 'none'")
  expect((await get('/')).headers.get('content-security-policy')).toContain("connect-src 'self';")
})

test('without it nothing of it is served', async () => {
  node = await startTestNode()
  expect((await get('/join/nodes.json')).status).toBe(404)
  expect((await get('/join/assets/index-BvuVqRJg.js')).status).toBe(404)
})
