import type { NameResolutionView } from '@mesh/api-contract'
import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { createFakeNode, type FakeNode, NAS, refusal, SELF } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()

/** A node that has one name, kept in its ledger. */
async function nodeWithName(): Promise<FakeNode> {
  const node = createFakeNode()
  await node.ledger.put('dns', '^git\\.$', '{"1":"10.1.0.5"}').settled
  node.answer('/api/dns', () => ({
    status: 200,
    body: [{ Regex: '^git\\.$', Records: { A: '10.1.0.5', TXT: 'hello' } }],
  }))
  return node
}

test('a name is added: announcing, then committed', async () => {
  const node = createFakeNode()
  const path = `PUT /api/ledger/dns/${encodeURIComponent('^web\\.$')}`
  const gate = Promise.withResolvers<void>()
  node.answer(path, async () => {
    await gate.promise
    return { status: 200, body: { State: 'Committed', Block: 12 } }
  })
  const { router } = open(node, '/names')
  fireEvent.click(await screen.findByRole('link', { name: 'Add a name' }))
  await screen.findByLabelText('Name or pattern')
  type('Name or pattern', '^web\\.$')
  type('Value', '10.1.0.7')
  fireEvent.click(screen.getByRole('button', { name: 'Write' }))
  await screen.findByRole('button', { name: 'Announcing' })
  gate.resolve()
  expect(await screen.findByRole('link', { name: 'block 12' })).toBeDefined()
  expect(router.state.location.search).toEqual({ pattern: '^web\\.$' })
  expect(node.bodies.get(path)).toBe('{"A":"10.1.0.7"}')
})

test('a plain name is written as the pattern that fits it alone', async () => {
  const node = createFakeNode()
  open(node, '/names?view=new')
  await screen.findByLabelText('Name or pattern')
  type('Name or pattern', 'git.lab')
  type('Value', '10.1.0.5')
  fireEvent.click(screen.getByRole('button', { name: 'Write' }))
  const path = `PUT /api/ledger/dns/${encodeURIComponent('^git\\.lab\\.$')}`
  await eventually(() => expect(node.bodies.get(path)).toBe('{"A":"10.1.0.5"}'))
})

test('says whether programs of this machine find the names', async () => {
  const node = createFakeNode()
  node.answer('/api/dns/server', () => refusal(404, 'dns.not_running', 'This node answers no DNS', ''))
  open(node, '/names')
  expect(await text('--dns 127.0.0.1:53 --dns-configure')).toBeDefined()
})

test('what is wrong stands at its record, and what was typed stays', async () => {
  const node = await nodeWithName()
  const issues = [{ Field: 'Records.A', Value: '10.1', Expected: 'an IPv4 address' }]
  const path = `PUT /api/ledger/dns/${encodeURIComponent('^git\\.$')}`
  node.answer(path, () => refusal(400, 'dns.bad_record', 'wrong', 'See Issues.', { Issues: issues }))
  open(node, `/names?pattern=${encodeURIComponent('^git\\.$')}`)
  const [value] = await screen.findAllByLabelText<HTMLInputElement>('Value')
  fireEvent.change(value as HTMLInputElement, { target: { value: '10.1' } })
  fireEvent.click(screen.getByRole('button', { name: 'Write' }))
  expect(await text('Expected: an IPv4 address.')).toBeDefined()
  const [again] = screen.getAllByLabelText<HTMLInputElement>('Value')
  expect([again?.value, again?.getAttribute('aria-invalid')]).toEqual(['10.1', 'true'])
})

test('a type that is given twice is told before it is written', async () => {
  open(await nodeWithName(), `/names?pattern=${encodeURIComponent('^git\\.$')}`)
  const fields = await screen.findAllByLabelText('Type')
  fireEvent.change(fields[1] as HTMLElement, { target: { value: 'a' } })
  expect(await text('Expected: given once.')).toBeDefined()
  expect(screen.getByRole<HTMLButtonElement>('button', { name: 'Write' }).disabled).toBe(true)
})

test('a name is deleted, with a way back', async () => {
  const node = await nodeWithName()
  open(node, `/names?pattern=${encodeURIComponent('^git\\.$')}`)
  fireEvent.click(await screen.findByRole('button', { name: 'Delete' }))
  const dialog = await screen.findByRole('dialog', { hidden: true })
  within(dialog).getByText('Names that this pattern answers will not resolve any more.')
  fireEvent.click(within(dialog).getByRole('button', { name: 'Delete', hidden: true }))
  await eventually(() => expect(node.ledger.snapshot().getLive('dns', '^git\\.$')).toBeUndefined())
  expect(await screen.findByRole('button', { name: 'Undo' })).toBeDefined()
})

test('the overview names the members that lead to the Internet, with the command', async () => {
  const node = createFakeNode()
  node.answer('/api/ledger/egress', () => ({ status: 200, body: { [NAS.peerId]: 'ok' } }))
  open(node, '/')
  expect(await text('mesh proxy')).toBeDefined()
  const egress = screen.getByText('members that lead to the Internet').closest('section')
  expect(await within(egress as HTMLElement).findByRole('link', { name: 'nas' })).toBeDefined()
})

const RESOLUTION: NameResolutionView = {
  Name: 'git.lab.',
  Type: 'A',
  Code: 'NOERROR',
  Records: [{ Name: 'git.lab.', Type: 'A', TTL: 60, Value: '10.1.0.5' }],
  Source: 'pattern',
  Winner: { Name: '^git\\.lab\\.$', Owner: NAS.peerId },
  Losers: [{ Name: 'lab\\.$', Owner: SELF.peerId, Reason: 'weaker' }],
  Servers: [],
}

test('a name is tested: what answers, why not another, and the command that does the same', async () => {
  const node = createFakeNode()
  node.answer('/api/dns/resolve/git.lab', () => ({ status: 200, body: RESOLUTION }))
  const { router } = open(node, '/names?q=lab')
  fireEvent.click(await screen.findByRole('link', { name: 'Test a name' }))
  await screen.findByLabelText('Name')
  type('Name', 'git.lab')
  fireEvent.click(screen.getByRole('button', { name: 'Test' }))
  expect(await text('A pattern of nas answers.')).toBeDefined()
  expect(router.state.location.search).toEqual({ q: 'lab', view: 'test', name: 'git.lab' })
  screen.getByText('10.1.0.5')
  screen.getByText(/Another pattern is stronger/)
  screen.getByText('mesh dns resolve git.lab')
  fireEvent.click(screen.getByRole('link', { name: '^git\\.lab\\.$' }))
  await eventually(() =>
    expect(router.state.location.search).toEqual({ q: 'lab', pattern: '^git\\.lab\\.$' }),
  )
})

test('the address of a test asks at once, and it can be asked again', async () => {
  const node = createFakeNode()
  const path = '/api/dns/resolve/git.lab'
  const none = { ...RESOLUTION, Type: 'AAAA', Records: [] }
  node.answer(path, () => ({ status: 200, body: none }))
  open(node, '/names?view=test&name=git.lab&type=AAAA')
  expect(await text(/It has no AAAA record/)).toBeDefined()
  screen.getByText('mesh dns resolve --type AAAA git.lab')
  const nobody = { ...none, Code: 'REFUSED', Source: 'nobody', Winner: null, Losers: [] }
  node.answer(path, () => ({ status: 200, body: nobody }))
  fireEvent.click(screen.getByRole('button', { name: 'Test' }))
  expect(await text(/No machine, service or pattern has this name/)).toBeDefined()
})

test('a tested name is asked again when names change and when machines come and go', async () => {
  const node = createFakeNode()
  const path = '/api/dns/resolve/git.lab'
  const answer = (Value: string) =>
    node.answer(path, () => ({
      status: 200,
      body: { ...RESOLUTION, Records: [{ Name: 'git.lab.', Type: 'A', TTL: 60, Value }] },
    }))
  answer('10.1.0.5')
  open(node, '/names?view=test&name=git.lab')
  expect(await text('10.1.0.5')).toBeDefined()
  answer('10.1.0.6')
  await node.ledger.put('dns', '^git\\.lab\\.$', '{"1":"10.1.0.6"}').settled
  await eventually(async () => {
    await pass(250)
    screen.getByText('10.1.0.6')
  })
  answer('10.1.0.7')
  await act(async () =>
    node.send('machine.offline', { PeerID: NAS.peerId, Hostname: 'nas', Address: '10.1.0.2' }),
  )
  await eventually(async () => {
    await pass(250)
    screen.getByText('10.1.0.7')
  })
})

test('what is wrong with a tested name stands at its field until it is typed over', async () => {
  const node = createFakeNode()
  const Issues = [{ Field: 'name', Value: 'a..b', Expected: 'a name like laptop.mesh' }]
  node.answer('/api/dns/resolve/a..b', () =>
    refusal(400, 'http.bad_path', 'wrong', 'See Issues.', { Issues }),
  )
  open(node, '/names?view=test&name=a..b')
  expect(await text('Expected: a name like laptop.mesh.')).toBeDefined()
  expect(screen.getByLabelText('Name').getAttribute('aria-invalid')).toBe('true')
  expect(screen.getByLabelText('Type').getAttribute('aria-invalid')).toBe('false')
  type('Name', 'a.b')
  expect(screen.queryByText('Expected: a name like laptop.mesh.')).toBeNull()
})
