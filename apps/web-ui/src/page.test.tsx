import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, onTestFinished, test, vi } from 'vitest'
import { createFakeNetwork, fakeHistory } from '../test/support/fake-network.ts'
import { CABIN, createFakeNode, NAS, peer, refusal, SELF } from '../test/support/fake-node.ts'
import { createPageSuite, text } from '../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()

/** As if the tab went behind another, or came back. */
function see(state: 'visible' | 'hidden'): void {
  Object.defineProperty(document, 'visibilityState', { configurable: true, get: () => state })
  act(() => void document.dispatchEvent(new Event('visibilitychange')))
}

const heading = () => eventually(() => screen.getByRole('heading', { level: 1 }).textContent)

test('the overview says in a sentence how the network is', async () => {
  open(createFakeNode(), '/')
  expect(await text('Everything is working.')).toBeDefined()
  await eventually(async () => expect(await heading()).toBe('3 machines online, 1 direct, 1 relayed.'))
  await screen.findByText('live')
})

test('the overview shows what needs a person: what, since when, and where it is solved', async () => {
  const node = createFakeNode()
  const Since = new Date(Date.now() - 3 * 3_600_000).toISOString()
  const problem = {
    Code: 'services.target_down',
    Severity: 'error',
    Title: 'web is down',
    Hint: 'Start it.',
    Since,
  }
  node.answer('/api/health', () => ({
    status: 200,
    body: { Status: 'error', Ownership: 'enforce', Problems: [problem] },
  }))
  const { router } = open(node, '/')
  expect(await text('1 problem')).toBeDefined()
  const row = (await text('web is down')).closest('li')
  expect(row?.textContent).toMatch(/error: web is downStart it\.Look at the servicessince 3 h$/)
  fireEvent.click(screen.getByRole('link', { name: 'Look at the services' }))
  await eventually(() => expect(router.state.location.pathname).toBe('/services'))
})

test('a machine that is alone is told how another one joins', async () => {
  const node = createFakeNode()
  node.answer('/api/peers', () => ({ status: 200, body: [] }))
  node.answer('/api/nodes', () => ({ status: 200, body: [{ ID: SELF.peerId, Online: true }] }))
  open(node, '/')
  expect(await text('This machine is alone in its network.')).toBeDefined()
  expect(await text('No other machine yet')).toBeDefined()
})

test('the overview shows what flows now and did in the last hour, and leads to the traffic', async () => {
  const node = createFakeNode()
  const { peers } = createFakeNetwork(4)
  const history = fakeHistory(peers, Date.now())
  node.answer('/api/metrics/history', () => ({ status: 200, body: history }))
  const traffic = { TotalIn: 0, TotalOut: 0, RateIn: 1.5e6, RateOut: 250e3 }
  node.answer('/api/metrics', () => ({ status: 200, body: traffic }))
  const { router } = open(node, '/')
  await screen.findByRole('img', { name: 'Traffic of the last hour' })
  const heading = screen.getByRole('heading', { name: 'Traffic in 12 Mbit/s out 2 Mbit/s' })
  expect(await text('1 h ago')).toBeDefined()
  fireEvent.click(within(heading).getByRole('link', { name: 'Traffic' }))
  await eventually(() => expect(router.state.location.pathname).toBe('/traffic'))
})

test('a node that counts no traffic yet says when the line begins', async () => {
  const node = createFakeNode()
  const none = { StepSeconds: 10, Until: '2026-11-28T10:00:00Z', In: [], Out: [], Peers: [], Protocols: [] }
  node.answer('/api/metrics/history', () => ({ status: 200, body: { ...none, Vpn: null } }))
  open(node, '/')
  expect(await text('The line of the last hour begins in a moment.')).toBeDefined()
})

test('a hidden tab asks the node nothing, and reads again when it is seen', async () => {
  vi.useFakeTimers({
    toFake: ['setInterval', 'clearInterval', 'setTimeout', 'clearTimeout'],
    shouldAdvanceTime: true,
  })
  onTestFinished(() => void vi.useRealTimers())
  const node = createFakeNode()
  open(node, '/')
  expect(await text('live')).toBeDefined()
  const asked = (from: number) =>
    node.requests.slice(from).filter((request) => !request.includes('/api/events'))
  const seen = node.requests.length
  await act(() => vi.advanceTimersByTimeAsync(60_000))
  expect(asked(seen)).toContain('GET /api/peers')
  see('hidden')
  onTestFinished(() => see('visible'))
  await pass(40_000)
  expect(node.openStreams()).toBe(0)
  const hidden = node.requests.length
  await act(() => vi.advanceTimersByTimeAsync(3_600_000))
  await pass(3_600_000)
  expect(node.requests.slice(hidden)).toEqual([])
  see('visible')
  await eventually(() => expect(asked(hidden)).toContain('GET /api/peers'))
})

test('a change elsewhere shows within half a second', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'first', '"one"').settled
  open(node, '/ledger?bucket=notes')
  expect(await text('one')).toBeDefined()
  expect(await text('live')).toBeDefined()
  await node.ledger.put('notes', 'first', '"two"').settled
  // the event has to arrive before the page's clock goes on; then half a second of it is enough
  await act(() => new Promise((resolve) => setImmediate(resolve)))
  await pass(500)
  expect(await text('two')).toBeDefined()
})

test('a write of another member appears live, and only its key is read again', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'first', '"one"').settled
  open(node, '/ledger?bucket=notes')
  expect(await text('one')).toBeDefined()
  expect(await text('live')).toBeDefined()
  const before = node.requests.length
  await node.ledger.put('notes', 'second', '"two"').settled
  await eventually(async () => {
    await pass(250)
    screen.getByText('two')
  })
  const asked = node.requests.slice(before)
  expect(asked).toContain('GET /api/ledger/notes/second')
  expect(asked).not.toContain('GET /api/ledger/notes')
})

test('a bucket of many keys opens with the first, and reads the others when asked', async () => {
  const node = createFakeNode()
  const names = Array.from({ length: 150 }, (_, n) => `key${String(n).padStart(3, '0')}`)
  await Promise.all(names.map((name) => node.ledger.put('notes', name, '"here"').settled))
  open(node, '/ledger?bucket=notes')
  expect(await text(/the first 100 keys/)).toBeDefined()
  const asked = () => node.requests.filter((request) => request === 'GET /api/ledger/notes').length
  expect(asked()).toBe(1)
  fireEvent.click(screen.getByRole('button', { name: 'Read more keys' }))
  expect(await text(/^150 keys/)).toBeDefined()
  expect(asked()).toBe(2)
  expect(screen.queryByRole('button', { name: 'Read more keys' })).toBeNull()
})

test('keys that differ by what nobody sees are told apart, in the list, the panel and the question', async () => {
  const node = createFakeNode()
  for (const key of ['web', 'we\u2060b']) await node.ledger.put('notes', key, '"👨‍👩‍👧"').settled
  open(node, '/ledger?bucket=notes')
  fireEvent.click(await screen.findByRole('link', { name: 'we\\u2060b' }))
  expect(screen.getByRole('link', { name: 'web' })).toBeDefined()
  const panel = await screen.findByRole('complementary', { name: 'notes/we\\u2060b' })
  expect(within(panel).getByRole('heading', { level: 2 }).textContent).toBe('notes/we\\u2060b')
  // values are shown as they are
  await within(panel).findByText('👨‍👩‍👧')
  fireEvent.click(within(panel).getByRole('button', { name: 'Delete' }))
  expect(screen.getByRole('heading', { name: 'Delete notes/we\\u2060b?' })).toBeDefined()
})

test('the ledger without a chosen bucket says what it is, with a picture and one action', async () => {
  const { router } = open(createFakeNode(), '/ledger')
  const note = (await text('Choose a bucket')).parentElement
  expect(note?.querySelector('svg')).not.toBeNull()
  fireEvent.click(screen.getByRole('link', { name: 'Write a key' }))
  await eventually(() => expect(router.state.location.search).toEqual({ view: 'new' }))
})

test('a gap in the events reads everything again that is shown', async () => {
  const node = createFakeNode()
  open(node, '/ledger?bucket=notes')
  expect(await text('live')).toBeDefined()
  expect(await text('Nothing is in notes')).toBeDefined()
  const before = node.requests.length
  await act(async () => node.send('gap', {}))
  await eventually(async () => {
    await pass(250)
    expect(node.requests.slice(before)).toContain('GET /api/ledger/notes')
  })
})

test('when the node is away, what is known stays, with its age', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'first', '"one"').settled
  open(node, '/ledger?bucket=notes')
  expect(await text('one')).toBeDefined()
  expect(await text('live')).toBeDefined()
  await act(async () => node.down())
  expect(await text('not connected')).toBeDefined()
  await pass(14_000)
  expect(await text('14 s old')).toBeDefined()
  screen.getByText('one')
  node.up()
  await pass(10_000)
  expect(await text('live')).toBeDefined()
})

test('a node that hangs is noticed within ten seconds, and nothing says that all is well', async () => {
  const node = createFakeNode()
  open(node, '/')
  expect(await text('live')).toBeDefined()
  expect(await text('Everything is working.')).toBeDefined()
  await pass(20_000)
  screen.getByText('live')
  node.hang()
  await pass(10_000)
  screen.getByText('not connected')
  expect(screen.queryByText('Everything is working.')).toBeNull()
  await pass(4_000)
  expect(await text(/^1[0-9] s old$/)).toBeDefined()
  expect(
    await text(/^This node does not answer\. What stands here is how it was 1[0-9] s ago\.$/),
  ).toBeDefined()
  node.up()
  await pass(10_000)
  expect(await text('live')).toBeDefined()
  expect(await text('Everything is working.')).toBeDefined()
})

test('what happened before the page was opened is shown, once, with its time', async () => {
  const node = createFakeNode()
  const At = new Date(Date.now() - 3 * 3_600_000).toISOString()
  const change = {
    Bucket: 'notes',
    Key: 'early',
    Owner: NAS.peerId,
    Version: 1n,
    Deleted: false,
    Origin: 'remote',
  }
  node.history('ledger.changed', { At, Block: 3, Changes: [change], More: 0 })
  const rejection = { At, Bucket: 'dns', Key: 'web', Owner: NAS.peerId, Version: 1n, Code: 'BAD_SIG' }
  node.history('ledger.rejected', { ...rejection, Author: null, Suppressed: 0 })
  open(node, '/')
  expect(await text('live')).toBeDefined()
  await pass(250)
  expect(await text('notes/early')).toBeDefined()
  expect(await text('refused: the signature is wrong')).toBeDefined()
  expect(screen.getAllByText(/^3 h( ago)?$/).length).toBeGreaterThan(0)
  expect(node.streamQueries).toEqual(['last=200'])
  await act(async () => node.down())
  node.up()
  await pass(10_000)
  expect(await text('live')).toBeDefined()
  expect(node.streamQueries.slice(1)).not.toContain('last=200')
  expect(screen.getAllByText('notes/early')).toHaveLength(1)
})

test('an address without a page says so in a heading, with a way home', async () => {
  const { router } = open(createFakeNode(), '/nothing/here')
  await eventually(async () => expect(await heading()).toBe('No such page'))
  fireEvent.click(screen.getByRole('link', { name: 'Go to the overview' }))
  await eventually(() => expect(router.state.location.pathname).toBe('/'))
})

test('a page that nobody sees gives its stream back, and goes on where it stopped', async () => {
  const node = createFakeNode()
  open(node, '/')
  expect(await text('live')).toBeDefined()
  await act(async () => node.send('peer.connected', { PeerID: NAS.peerId, Path: 'direct' }))
  await pass(250)
  expect(await text('nas connected, direct')).toBeDefined()
  see('hidden')
  await pass(29_000)
  expect(node.openStreams()).toBe(1)
  await pass(2_000)
  expect(node.openStreams()).toBe(0)
  see('visible')
  expect(await text('live')).toBeDefined()
  expect(node.openStreams()).toBe(1)
  expect(node.resumedFrom).toEqual(['1'])
})

test('what could not be read at all says why, and what to do', async () => {
  const node = createFakeNode()
  node.answer('/api/ledger/notes', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  open(node, '/ledger?bucket=notes')
  const note = await screen.findByRole('alert')
  within(note).getByText('not yet')
  within(note).getByText('Ask again soon.')
  node.answer('/api/ledger/notes', () => ({ status: 200, body: { first: 'one' } }))
  fireEvent.click(within(note).getByRole('button', { name: 'Try again' }))
  expect(await text('one')).toBeDefined()
})

test('a new key is announcing, then committed in a block', async () => {
  const node = createFakeNode()
  const gate = Promise.withResolvers<void>()
  node.answer('PUT /api/ledger/notes/hello', async () => {
    await gate.promise
    await node.ledger.put('notes', 'hello', '"world"').settled
    return { status: 200, body: { State: 'Committed', Block: 12 } }
  })
  const { router } = open(node, '/ledger?bucket=notes&view=new')
  fireEvent.change(await screen.findByLabelText('Key'), { target: { value: 'hello' } })
  fireEvent.change(screen.getByLabelText('Value'), { target: { value: 'world' } })
  fireEvent.click(screen.getByRole('button', { name: 'Write' }))
  await eventually(() => expect(screen.getAllByText('announcing').length).toBeGreaterThan(0))
  gate.resolve()
  expect(await text('signature verified here')).toBeDefined()
  expect(router.state.location.search).toEqual({ bucket: 'notes', key: 'hello' })
  await eventually(() => expect(screen.getAllByRole('link', { name: 'block 12' }).length).toBeGreaterThan(0))
})

test('a refused write says by whom and until when, and keeps what was typed', async () => {
  const node = createFakeNode()
  const lease = { Owner: NAS.peerId, LeaseEndsAt: '2026-11-21T14:02:00Z' }
  node.answer('PUT /api/ledger/dns/web', () =>
    refusal(409, 'ledger.not_owner', 'dns/web is owned by nas', 'Use another key.', lease),
  )
  open(node, '/ledger?bucket=dns&view=new')
  fireEvent.change(await screen.findByLabelText('Key'), { target: { value: 'web' } })
  fireEvent.change(screen.getByLabelText('Value'), { target: { value: '{"A":"10.1.0.5"}' } })
  fireEvent.click(screen.getByRole('button', { name: 'Write' }))
  expect(await text(/^owned by nas until \d\d:\d\d$/)).toBeDefined()
  expect(await text('Use another key.')).toBeDefined()
  expect(screen.getByLabelText<HTMLTextAreaElement>('Value').value).toBe('{"A":"10.1.0.5"}')
})

test('a key is edited in place', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'hello', '"world"').settled
  open(node, '/ledger?bucket=notes&key=hello')
  fireEvent.click(await screen.findByRole('button', { name: 'Edit' }))
  fireEvent.change(screen.getByLabelText('Value'), { target: { value: '{"n":1}' } })
  expect(await text(/object with 1 field/)).toBeDefined()
  fireEvent.click(screen.getByRole('button', { name: 'Write' }))
  await eventually(async () => {
    await pass(250)
    expect(node.ledger.snapshot().getLive('notes', 'hello')?.value).toBe('{"n":1}')
    screen.getByText('{"n":1}')
  })
})

test('a deleted key can be put back', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'hello', '"world"').settled
  open(node, '/ledger?bucket=notes&key=hello')
  fireEvent.click(await screen.findByRole('button', { name: 'Delete' }))
  const dialog = await screen.findByRole('dialog', { hidden: true })
  fireEvent.click(within(dialog).getByRole('button', { name: 'Delete', hidden: true }))
  await eventually(() => expect(node.ledger.snapshot().getLive('notes', 'hello')).toBeUndefined())
  fireEvent.click(await screen.findByRole('button', { name: 'Undo' }))
  await eventually(() => expect(node.ledger.snapshot().getLive('notes', 'hello')?.value).toBe('"world"'))
})

test('an entry whose signature does not fit is shown as such', async () => {
  const node = createFakeNode()
  await node.ledger.put('notes', 'hello', '"world"').settled
  const entry = node.ledger.snapshot().get('notes', 'hello')
  const Sig = Buffer.from(entry?.sig ?? []).toString('base64')
  node.answer('/api/blockchain/notes/hello', () => ({
    status: 200,
    body: {
      Value: '"forged"',
      Owner: entry?.owner,
      Version: entry?.version,
      UpdatedAt: entry?.updatedAt,
      Deleted: false,
      Sig,
    },
  }))
  open(node, '/ledger?bucket=notes&key=hello')
  expect(await text('signature does not fit')).toBeDefined()
})

test('refused entries come with their reason', async () => {
  const node = createFakeNode()
  open(node, '/ledger?view=refused')
  expect(await text('live')).toBeDefined()
  expect(await text('Nothing was refused')).toBeDefined()
  await act(async () =>
    node.send('ledger.rejected', {
      Bucket: 'machines',
      Key: '10.1.0.5',
      Owner: NAS.peerId,
      Version: 1n,
      Code: 'BAD_SIG',
      Author: CABIN.peerId,
      Suppressed: 2,
    }),
  )
  await pass(250)
  expect(await text('the signature is wrong')).toBeDefined()
  expect(await text('signed by nas, sent by cabin, and 2 more before it')).toBeDefined()
})

test('the filter of machines stands in the address', async () => {
  const { router } = open(createFakeNode(), '/machines?q=relayed')
  await screen.findByRole('link', { name: 'cabin' })
  expect(screen.queryByRole('link', { name: 'nas' })).toBeNull()
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'nas' } })
  await screen.findByRole('link', { name: 'nas' })
  expect(router.state.location.search).toEqual({ q: 'nas' })
})

test('a machine has an address of its own', async () => {
  const node = createFakeNode()
  const lost = peer(NAS.peerId, 'nas', { Connected: false, Path: null, LastError: 'dial timed out' })
  node.answer('/api/peers', () => ({ status: 200, body: [lost] }))
  open(node, `/machines/${NAS.peerId}`)
  const panel = await screen.findByRole('complementary', { name: 'nas' })
  within(panel).getByText('via others')
  expect(within(panel).getByText('dial timed out')).toBeDefined()
})

test('keys lead through the page', async () => {
  const { router } = open(createFakeNode(), '/')
  expect(await text('live')).toBeDefined()
  fireEvent.keyDown(document.body, { key: 'g' })
  fireEvent.keyDown(document.body, { key: 'm' })
  await eventually(() => expect(router.state.location.pathname).toBe('/machines'))
  await screen.findByRole('searchbox')
  fireEvent.keyDown(document.body, { key: '/' })
  expect(document.activeElement).toBe(screen.getByRole('searchbox'))
  fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'g' })
  fireEvent.keyDown(screen.getByRole('searchbox'), { key: 'l' })
  expect(router.state.location.pathname).toBe('/machines')
  fireEvent.keyDown(document.body, { key: '?' })
  await screen.findByRole('dialog', { hidden: true, name: 'Keyboard' })
})

test('of 10,000 keys only those are drawn that can be seen', async () => {
  const node = createFakeNode()
  const body = Object.fromEntries(Array.from({ length: 10_000 }, (_, at) => [`key-${at}`, at]))
  node.answer('/api/ledger/many', () => ({ status: 200, body }))
  open(node, '/ledger?bucket=many')
  expect(await text('10,000 keys')).toBeDefined()
  const table = await screen.findByRole('table', { name: 'Keys of many' })
  expect(table.getAttribute('aria-rowcount')).toBe('10001')
  expect(within(table).getAllByRole('row').length).toBeLessThan(80)
})

test('a machine that comes under the name of another is told apart from it', async () => {
  const node = createFakeNode()
  open(node, '/')
  await text('live')
  await act(async () => {
    node.send('machine.online', { PeerID: SELF.peerId, Hostname: 'nas', Address: '10.1.0.9' })
    node.send('machine.online', { PeerID: NAS.peerId, Hostname: 'nas', Address: '10.1.0.5' })
  })
  await pass(250)
  expect(await text(`nas (${SELF.peerId.slice(-8)}) came online`)).toBeDefined()
  expect(await text('nas came online')).toBeDefined()
})

test('of many egress nodes the overview shows a few', async () => {
  const node = createFakeNode()
  const ids = Array.from({ length: 3_000 }, (_, at) => `peer ${at}`)
  node.answer('/api/ledger/egress', () => ({
    status: 200,
    body: Object.fromEntries(ids.map((id) => [id, 'ok'])),
  }))
  open(node, '/')
  await screen.findByRole('button', { name: 'Show 200 more of 2,988' })
  expect(screen.getAllByText(/^peer \d+$/)).toHaveLength(12)
})
