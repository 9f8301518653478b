import type { NodeConnectionView, NodeDownloadView, NodeFileView, NodeServiceView } from '@mesh/api-contract'
import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CABIN, createFakeNode, NAS, refusal, SELF } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })
const region = (name: string) => screen.findByRole('region', { name })

const COUNTS = { OpenConnections: 0, Connections: 0, BytesIn: 0, BytesOut: 0, LastError: null, Kept: true }
const service = (Name: string, more: Partial<NodeServiceView> = {}): NodeServiceView => ({
  Name,
  Target: '127.0.0.1:8080',
  State: 'announced',
  Since: '2026-11-21T12:00:00Z',
  Owner: null,
  ...COUNTS,
  ...more,
})
const connection = (Name: string, more: Partial<NodeConnectionView> = {}): NodeConnectionView => ({
  Name,
  Listen: '127.0.0.1:43121',
  State: 'connected',
  Provider: NAS.peerId,
  Providers: 1,
  Path: 'direct',
  Transport: 'tcp tls',
  ...COUNTS,
  ...more,
})
const file = (Name: string, more: Partial<NodeFileView> = {}): NodeFileView => ({
  Name,
  Path: '/srv/photos',
  State: 'announced',
  Owner: null,
  LeftOut: 0,
  LeftOutNames: [],
  Completed: 2,
  Receivers: [],
  LastError: null,
  Kept: true,
  ...more,
})

const download = (Name: string, more: Partial<NodeDownloadView> = {}): NodeDownloadView => ({
  Name,
  Destination: '/srv/inbox/',
  State: 'receiving',
  Provider: NAS.peerId,
  Path: 'direct',
  Transport: 'tcp tls',
  Files: 12,
  Bytes: 10_000_000,
  TotalBytes: 40_000_000,
  Rate: 1_000_000,
  LeftMs: 30_000,
  WrittenTo: null,
  Verified: null,
  LeftOut: null,
  LeftOutNames: [],
  LastError: null,
  ErrorCode: null,
  Hint: null,
  ...more,
})
const STANDS_STILL = { Path: null, Transport: null, Rate: 0, LeftMs: null } as const

test('each state of a service is a word, with its reason', async () => {
  const node = createFakeNode()
  const body = [
    service('web', { OpenConnections: 3, BytesIn: 2_400 }),
    service('db', { State: 'target down', LastError: 'connection refused' }),
    service('ssh', { Owner: NAS.peerId }),
    service('new', { State: 'checking', Since: null }),
  ]
  node.answer('/api/node/services', ok(body))
  open(node, '/services')
  const offered = await region('Offered by this node')
  expect((await within(offered).findAllByText('offered')).length).toBe(2)
  within(offered).getByText('healthy since 21 Nov')
  within(offered).getByText('2.4 kB')
  within(offered).getByText('target down')
  expect(within(offered).getByText('connection refused').title).toBe('connection refused')
  await within(offered).findByText('beside nas')
  within(offered).getByText('checking')
})

test.each([
  ['announced', 'Healthy since'],
  ['target down', 'Down since'],
] as const)('the panel of a service that is %s tells since when', async (State, term) => {
  const node = createFakeNode()
  node.answer('/api/node/services', ok([service('web', { State })]))
  open(node, '/services?view=service&name=web')
  const panel = await screen.findByRole('complementary', { name: 'web' })
  expect((await within(panel).findByText(term)).nextElementSibling?.textContent).toMatch(/^21 Nov 2026, /)
})

test('with nothing offered, the page teaches how to offer', async () => {
  open(createFakeNode(), '/services')
  expect(await text('mesh service-add web 127.0.0.1:8080')).toBeDefined()
  expect(await text(/No member offers a service now/)).toBeDefined()
})

test('a service is offered, with the command that does the same', async () => {
  const node = createFakeNode()
  const gate = Promise.withResolvers<void>()
  node.answer('PUT /api/node/services/my%20web', async () => {
    await gate.promise
    node.answer('/api/node/services', ok([service('my web', { State: 'announcing' })]))
    return { status: 200, body: service('my web', { State: 'announcing' }) }
  })
  const { router } = open(node, '/services')
  fireEvent.click(await screen.findByRole('link', { name: 'Offer a service' }))
  await screen.findByLabelText('Name')
  type('Name', 'my web')
  type('Target', ':8080')
  expect(await text("mesh service-add 'my web' :8080")).toBeDefined()
  fireEvent.click(screen.getByRole('button', { name: 'Offer' }))
  await screen.findByRole('button', { name: 'Announcing' })
  gate.resolve()
  const panel = await screen.findByRole('complementary', { name: 'my web' })
  await within(panel).findByText('announcing')
  expect(router.state.location.search).toEqual({ view: 'service', name: 'my web' })
  expect(node.bodies.get('PUT /api/node/services/my%20web')).toBe('{"Target":":8080"}')
  node.answer('/api/node/services', ok([service('my web')]))
  await act(async () => node.send('service.changed', { Name: 'my web', State: 'announced' }))
  await eventually(async () => {
    await pass(250)
    within(panel).getByText('offered')
  })
})

test('an error stands at its field, and what was typed stays', async () => {
  const node = createFakeNode()
  node.answer('PUT /api/node/services/web', () =>
    refusal(400, 'services.bad_address', '"8080" is no address of a service', 'Write HOST:PORT.'),
  )
  open(node, '/services?view=offer')
  await screen.findByLabelText('Name')
  type('Name', 'web')
  type('Target', '8080')
  fireEvent.click(screen.getByRole('button', { name: 'Offer' }))
  expect(await text('"8080" is no address of a service. Write HOST:PORT.')).toBeDefined()
  const target = screen.getByLabelText<HTMLInputElement>('Target')
  expect(target.value).toBe('8080')
  expect(target.getAttribute('aria-invalid')).toBe('true')
  expect(screen.getByLabelText('Name').getAttribute('aria-invalid')).toBe('false')
})

test('withdrawing says who is affected, and then does it', async () => {
  const node = createFakeNode()
  node.answer('/api/node/services', ok([service('web', { OpenConnections: 2 })]))
  node.answer('DELETE /api/node/services/web', () => {
    node.answer('/api/node/services', ok([]))
    return { status: 200, body: { State: 'Removed' } }
  })
  open(node, '/services?view=service&name=web')
  fireEvent.click(await screen.findByRole('button', { name: 'Withdraw' }))
  const dialog = await screen.findByRole('dialog', { hidden: true })
  within(dialog).getByText('2 connections of members to it end now.')
  within(dialog).getByText('mesh service-remove web')
  fireEvent.click(within(dialog).getByRole('button', { name: 'Withdraw', hidden: true }))
  await eventually(() => expect(node.requests).toContain('DELETE /api/node/services/web'))
  expect(await text('mesh service-add web 127.0.0.1:8080')).toBeDefined()
})

test('a service of a member is connected from here, and its address is there to copy', async () => {
  const node = createFakeNode()
  node.answer('/api/services', ok([{ Name: 'web', PeerID: NAS.peerId }]))
  node.answer('PUT /api/node/connections/web', () => {
    node.answer('/api/node/connections', ok([connection('web')]))
    return { status: 200, body: connection('web') }
  })
  open(node, '/services')
  fireEvent.click(await screen.findByRole('link', { name: 'web' }))
  const listen = await screen.findByLabelText<HTMLInputElement>('Listen address')
  expect(listen.value).toBe('127.0.0.1:0')
  await text(/another one after each restart/)
  type('Listen address', '127.0.0.1:9000')
  expect(screen.queryByText(/another one after each restart/)).toBeNull()
  type('Listen address', '127.0.0.1:0')
  fireEvent.click(screen.getByRole('button', { name: 'Connect' }))
  const panel = await screen.findByRole('complementary', { name: 'web' })
  await within(panel).findByRole('button', { name: 'Copy address 127.0.0.1:43121' })
  within(panel).getByText('connected')
  within(panel).getByText(/another one after each restart/)
  within(panel).getByText('mesh service-connect web 127.0.0.1:43121')
  expect(node.bodies.get('PUT /api/node/connections/web')).toBe('{"Listen":"127.0.0.1:0"}')
})

test('away from its machine the node is read only, and the page says what to type there', async () => {
  const node = createFakeNode()
  const local = () => refusal(403, 'node.local_only', 'only the machine itself may ask', 'Ask there.')
  for (const list of ['services', 'connections', 'files', 'downloads'])
    node.answer(`/api/node/${list}`, local)
  node.answer(
    '/api/services',
    ok([
      { Name: 'web', PeerID: NAS.peerId },
      { Name: 'mine', PeerID: SELF.peerId },
    ]),
  )
  open(node, '/services?view=connect&name=web')
  expect(await text('mesh service-add NAME HOST:PORT')).toBeDefined()
  expect(await text('mesh service-connect web 127.0.0.1:9000')).toBeDefined()
  await screen.findByRole('link', { name: 'mine' })
  expect(screen.queryByRole('link', { name: 'Offer a service' })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Connect' })).toBeNull()
  expect(screen.queryByRole('alert')).toBeNull()
})

test('before the node has joined, its lists say so and come by themselves', async () => {
  const node = createFakeNode()
  node.answer('/api/node/services', () => refusal(503, 'services.not_running', 'not joined', 'Wait.'))
  open(node, '/services')
  const offered = await region('Offered by this node')
  await within(offered).findByText(/has not joined its network yet/)
  node.answer('/api/node/services', ok([service('web')]))
  expect(await within(offered).findByText('offered')).toBeDefined()
})

test('who receives a file stands there with progress, and is named when it is withdrawn', async () => {
  const node = createFakeNode()
  const Receivers = [
    {
      PeerID: CABIN.peerId,
      Path: 'direct' as const,
      Transport: 'tcp tls',
      Bytes: 10_000_000,
      TotalBytes: 40_000_000,
      Rate: 1_000_000,
    },
  ]
  node.answer(
    '/api/node/files',
    ok([file('photos', { Receivers, LeftOut: 3, LeftOutNames: ['latest: a link'] })]),
  )
  open(node, '/files?view=file&name=photos')
  const panel = await screen.findByRole('complementary', { name: 'photos' })
  await within(panel).findByText(/25 %, 10 MB of 40 MB/)
  within(panel).getByText(/direct, tcp tls/)
  within(panel).getByText(/3 left out: latest: a link/)
  within(panel).getByText('mesh file-receive photos')
  fireEvent.click(within(panel).getByRole('button', { name: 'Withdraw' }))
  const dialog = await screen.findByRole('dialog', { hidden: true })
  const affected = 'cabin receives it now and must wait until it is offered again.'
  expect(await within(dialog).findByText(affected)).toBeDefined()
})

test('a path that the node cannot read is told at its field', async () => {
  const node = createFakeNode()
  node.answer('PUT /api/node/files/photos', () =>
    refusal(400, 'files.unreadable', '/nowhere does not exist', 'Give the path of a file or folder.'),
  )
  open(node, '/files?view=offer&name=photos')
  await screen.findByLabelText('Path')
  type('Path', '/nowhere')
  fireEvent.click(screen.getByRole('button', { name: 'Offer' }))
  expect(await text('/nowhere does not exist. Give the path of a file or folder.')).toBeDefined()
  expect(screen.getByLabelText('Path').getAttribute('aria-invalid')).toBe('true')
})

test('names of offers that differ by what nobody sees are told apart, and copied as they are', async () => {
  const node = createFakeNode()
  const like = 'photos\u{E0041}'
  const files = ['photos', like].map((Name) => ({ Name, PeerID: NAS.peerId }))
  node.answer('/api/files', ok(files))
  open(node, '/files')
  const offered = await region('Offered by members')
  const link = await within(offered).findByRole('link', { name: 'photos\\udb40\\udc41' })
  expect(link.getAttribute('href')).toContain(encodeURIComponent(like))
  expect(within(offered).getByRole('link', { name: 'photos' })).toBeDefined()
  expect(within(offered).getByText(/photos\\udb40\\udc41'?$/, { selector: 'button span' })).toBeDefined()
})

test('files of members come with the command that fetches them', async () => {
  const node = createFakeNode()
  node.answer('/api/files', ok([{ Name: 'my photos', PeerID: NAS.peerId }]))
  open(node, '/files')
  expect(await text("mesh file-receive 'my photos'")).toBeDefined()
})

test('what this node fetches stands there with progress, and how the last ended', async () => {
  const node = createFakeNode()
  node.answer(
    '/api/node/downloads',
    ok([
      download('photos'),
      download('iso', {
        State: 'waiting',
        Provider: null,
        Files: null,
        Bytes: 0,
        TotalBytes: null,
        ...STANDS_STILL,
      }),
      download('logs', { State: 'retrying', LastError: 'the connection broke off', ...STANDS_STILL }),
      download('notes', { State: 'failed', LastError: 'no room is left', ...STANDS_STILL }),
      download('old', {
        State: 'received',
        WrittenTo: '/srv/inbox/old.tar',
        Verified: true,
        ...STANDS_STILL,
      }),
    ]),
  )
  open(node, '/files')
  const list = await screen.findByRole('table', { name: 'Fetched by this node' })
  const row = (name: string) => within(list).getByRole('link', { name }).closest('[role=row]')?.textContent
  expect(row('photos')).toMatch(/receiving.*from.*\/srv\/inbox\/25 %, 30 s left8 Mbit\/s/)
  expect(row('iso')).toContain('waitingfor a sender')
  expect(row('logs')).toMatch(/broken off.*25 %/)
  expect(row('notes')).toContain('failedno room is left')
  expect(row('old')).toMatch(/received.*\/srv\/inbox\/old\.tar/)
})

test('with nothing fetched the list is not there, and an address of something that ended says so', async () => {
  open(createFakeNode(), '/files?view=download&name=photos')
  const panel = await screen.findByRole('complementary', { name: 'photos' })
  await within(panel).findByText('This node fetches nothing of this name')
  expect(screen.queryByRole('region', { name: 'Fetched by this node' })).toBeNull()
})

test('a download is followed, and stopped after the page has said how it goes on', async () => {
  const node = createFakeNode()
  node.answer('/api/node/downloads', ok([download('my photos')]))
  node.answer('DELETE /api/node/downloads/my%20photos', () => {
    node.answer('/api/node/downloads', ok([]))
    return { status: 200, body: { State: 'Removed' } }
  })
  const { router } = open(node, '/files?view=download&name=my%20photos')
  const panel = await screen.findByRole('complementary', { name: 'my photos' })
  await within(panel).findByText(/25 %, 10 MB of 40 MB, direct, tcp tls/)
  within(panel).getByText(/30 s left/)
  const bar = within(panel).getByRole<HTMLProgressElement>('progressbar', { name: 'Received of my photos' })
  expect([bar.value, bar.max]).toEqual([10_000_000, 40_000_000])
  await within(panel).findByText('nas')
  fireEvent.click(within(panel).getByRole('button', { name: 'Stop' }))
  const dialog = await screen.findByRole('dialog', { hidden: true })
  within(dialog).getByText("mesh file-receive 'my photos' /srv/inbox/")
  expect(within(dialog).getByText(/^curl -X DELETE/).textContent).toContain('/api/node/downloads/my%20photos')
  fireEvent.click(within(dialog).getByRole('button', { name: 'Stop', hidden: true }))
  await eventually(() => expect(node.requests).toContain('DELETE /api/node/downloads/my%20photos'))
  await eventually(() => expect(router.state.location.search).toEqual({}))
})

test('a download that failed says why, what to do and what goes on with it, and is taken from the list', async () => {
  const node = createFakeNode()
  const failure = {
    LastError: 'no room is left at /srv/inbox',
    ErrorCode: 'files.no_space',
    Hint: 'Make room.',
  }
  node.answer(
    '/api/node/downloads',
    ok([download('photos', { State: 'failed', ...STANDS_STILL, ...failure })]),
  )
  node.answer('DELETE /api/node/downloads/photos', () => ({ status: 200, body: { State: 'Removed' } }))
  open(node, '/files?view=download&name=photos')
  const panel = await screen.findByRole('complementary', { name: 'photos' })
  await within(panel).findByText('no room is left at /srv/inbox')
  within(panel).getByText('Make room.')
  within(panel).getByText('mesh file-receive photos /srv/inbox/')
  expect(within(panel).queryByRole('progressbar')).toBeNull()
  fireEvent.click(within(panel).getByRole('button', { name: 'Take from the list' }))
  await eventually(() => expect(node.requests).toContain('DELETE /api/node/downloads/photos'))
})

test('a service that a member announces under many keys stands once, and goes when the filter does not fit', async () => {
  const node = createFakeNode()
  const many = Array.from({ length: 5 }, () => ({ Name: 'web', PeerID: NAS.peerId }))
  node.answer('/api/services', ok([...many, { Name: `long ${'W'.repeat(60_000)}`, PeerID: NAS.peerId }]))
  open(node, '/services')
  const rows = async () =>
    within(await region('Offered by members'))
      .getAllByRole('row')
      .slice(1)
  await screen.findByRole('link', { name: 'web' })
  expect(await rows()).toHaveLength(2)
  expect(document.body.textContent?.length).toBeLessThan(10_000)
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'long' } })
  await eventually(async () => expect(await rows()).toHaveLength(1))
  expect(screen.queryByRole('link', { name: 'web' })).toBeNull()
})
