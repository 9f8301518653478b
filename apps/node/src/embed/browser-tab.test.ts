/** A tab and three nodes in one process: WebSockets are the same in Node.js as in a browser. */
import { createServer } from 'node:http'
import { text } from 'node:stream/consumers'
import { joinMesh as joinTab, type Mesh as Tab } from '@mesh/browser'
import { eventually } from '@mesh/testkit'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { generateToken } from './generate-token.ts'
import { joinMesh, type Mesh } from './join-mesh.ts'

const WITHIN = { withinMs: 15_000, everyMs: 20 }
const token = generateToken()
const ends: { close(): Promise<void> }[] = []
let [home, near, far]: Mesh[] = []
let tab: Tab

async function startNode(init: {
  readonly peers?: readonly string[]
  readonly listen: string[]
}): Promise<Mesh> {
  const { peers = [], listen } = init
  const settings = { mdns: false, dht: false, 'listen-maddrs': listen }
  const node = await joinMesh({ token, ephemeral: true, private: true, bootstrapPeers: peers, settings })
  ends.push(node)
  return node
}

const there = <T>(value: T | undefined): T => {
  if (value === undefined) throw new Error('is not there')
  return value
}

beforeAll(async () => {
  const tcp = '/ip4/127.0.0.1/tcp/0'
  home = await startNode({ listen: [tcp, `${tcp}/ws`] })
  ;[near, far] = await Promise.all(
    [1, 2].map(() => startNode({ listen: [tcp], peers: there(home).addresses })),
  )
  const web = createServer((request, response) => {
    response.setHeader('x-method', request.method ?? '')
    void text(request).then((body) => response.end(`${request.url} ${body}`))
  })
  await there(near).listen('Wiki', web)
  await there(home).listen('at-home', web)
  const nodes = there(home).addresses.filter((address) => address.includes('/ws'))
  tab = await joinTab({ token, nodes, name: 'tab' })
  ends.push(tab)
}, 30_000)
afterAll(async () => {
  await Promise.all(ends.map((end) => end.close()))
})

test('a tab joins, reads, writes, deletes and hears changes', async () => {
  await eventually(() => expect(tab.state).toBe('joined'), WITHIN)
  await there(far).ledger.put('notes', 'from-node', { text: 'hello' })
  await eventually(() => expect(tab.ledger.get('notes', 'from-node')).toEqual({ text: 'hello' }), WITHIN)
  await tab.ledger.put('notes', 'from-tab', [1, 'two'])
  await eventually(() => expect(there(near).ledger.get('notes', 'from-tab')).toEqual([1, 'two']), WITHIN)
  const ofTab = { key: 'from-tab', owner: tab.id, isOwnerAlive: true }
  await eventually(
    () => expect(there(near).ledger.list('notes')).toContainEqual(expect.objectContaining(ofTab)),
    WITHIN,
  )
  const changes = tab.watch('notes')
  await there(near).ledger.delete('notes', 'from-tab')
  expect((await changes.next()).value).toMatchObject({
    key: 'from-tab',
    isDeleted: true,
    owner: there(near).id,
  })
  await changes.return?.()
  const ids = [tab.id, there(home).id, there(near).id, there(far).id]
  await eventually(() => expect(new Set(tab.members().map(({ id }) => id))).toEqual(new Set(ids)), WITHIN)
  expect(tab.members()[0]?.id).toBe(tab.id)
})

test('a tab fetches services of its own node and of a node that it reaches over that one', async () => {
  const answer = await tab.fetch('http://wiki.svc.mesh/page?q=1', { method: 'POST', body: 'asked' })
  expect([answer.status, answer.headers.get('x-method'), await answer.text()]).toEqual([
    200,
    'POST',
    '/page?q=1 asked',
  ])
  expect(await (await tab.fetch('http://at-home.svc.mesh/x')).text()).toBe('/x ')
  expect(tab.members().find(({ id }) => id === there(near).id)?.path).toBe('relayed')
  expect(tab.members().find(({ id }) => id === there(home).id)?.path).toBe('direct')
  await expect(tab.fetch('http://nobody.svc.mesh/', { signal: AbortSignal.timeout(300) })).rejects.toThrow(
    'timeout',
  )
  await expect(tab.fetch('https://wiki.svc.mesh/')).rejects.toMatchObject({ code: 'services.bad_address' })
})
