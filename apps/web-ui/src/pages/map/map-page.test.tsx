import { fireEvent, screen, within } from '@testing-library/react'
import { eventually } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { answerNetwork, createFakeNetwork } from '../../../test/support/fake-network.ts'
import { CABIN, createFakeNode, NAS, SELF } from '../../../test/support/fake-node.ts'
import { createPageSuite, text } from '../../../test/support/page-suite.tsx'

const { open } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })

function nodeWithReports() {
  const node = createFakeNode()
  const path = { PeerID: CABIN.peerId, Path: 'direct', Relay: null, RoundTripMs: 14, BytesPerSecond: 1_000 }
  const none = { AgeMs: 0, Paths: [], More: 0 }
  node.answer(
    '/api/paths',
    ok([
      { ...none, PeerID: SELF.peerId, State: 'told' },
      { PeerID: NAS.peerId, State: 'told', AgeMs: 40_000, Paths: [path], More: 0 },
      { ...none, PeerID: CABIN.peerId, State: 'silent', AgeMs: null },
    ]),
  )
  return node
}

test('the table says how everybody reaches everybody, who says so and how old it is', async () => {
  open(nodeWithReports(), '/map?view=table')
  const table = await screen.findByRole('table', { name: 'Paths' })
  await within(table).findByText('14 ms')
  expect(within(table).getAllByRole('row')).toHaveLength(4)
  const row = within(table).getByText('14 ms').closest('[role=row]')
  expect(row?.textContent).toContain('direct')
  expect(row?.textContent).toContain('8 kbit/s')
  within(row as HTMLElement).getByLabelText(/^(39|[45]\d) s ago$/)
  within(table).getByText('relayed')
  expect(await text(/3 machines, paths of 1 of 2 members, the oldest (39|[45]\d) s old/)).toBeDefined()
})

test('the table says at which sites the machines are', async () => {
  const node = createFakeNode()
  answerNetwork(node, createFakeNetwork(3))
  open(node, '/map?view=table')
  const table = await screen.findByRole('table', { name: 'Paths' })
  within(table).getByRole('columnheader', { name: 'Site' })
  expect((await within(table).findAllByText('203.0.0.0/24')).length).toBeGreaterThan(0)
  expect(within(table).getAllByText('unknown to 203.0.0.0/24').length).toBeGreaterThan(0)
})

test('the filter leaves the paths of the machines that fit', async () => {
  open(nodeWithReports(), '/map?view=table')
  await text('14 ms')
  fireEvent.change(screen.getByRole('searchbox'), { target: { value: 'nas' } })
  const table = screen.getByRole('table', { name: 'Paths' })
  await eventually(() => expect(within(table).queryByText('relayed')).toBeNull())
  expect(within(table).getAllByText('direct')).toHaveLength(2)
})

test('the panel of a machine has its paths and leads to the machine', async () => {
  const { router } = open(nodeWithReports(), `/map?machine=${CABIN.peerId}`)
  const panel = await screen.findByRole('complementary', { name: 'cabin' })
  await within(panel).findByText('14 ms')
  expect(within(panel).getAllByRole('listitem')).toHaveLength(2)
  fireEvent.click(within(panel).getByRole('link', { name: 'nas' }))
  await screen.findByRole('complementary', { name: 'nas' })
  fireEvent.click(screen.getByRole('link', { name: 'Open the machine' }))
  await screen.findByRole('heading', { name: 'Paths' })
  expect(router.state.location.pathname).toBe(`/machines/${NAS.peerId}`)
})

test('dozens of machines have outlines around their sites, which the legend explains', async () => {
  const node = createFakeNode()
  answerNetwork(node, createFakeNetwork(50))
  open(node, '/map')
  const toggle = await screen.findByRole('button', { name: 'Group by site' })
  expect(toggle.getAttribute('aria-pressed')).toBe('false')
  screen.getByText('around machines at one site')
  fireEvent.click(toggle)
  expect(screen.queryByText('around machines at one site')).toBeNull()
})

test('hundreds of machines are grouped by site, and the switch says so', async () => {
  const node = createFakeNode()
  answerNetwork(node, createFakeNetwork(300))
  open(node, '/map')
  const toggle = await screen.findByRole('button', { name: 'Group by site' })
  expect(toggle.getAttribute('aria-pressed')).toBe('true')
  screen.getByText('machines at one site; click opens it')
  fireEvent.click(toggle)
  expect(toggle.getAttribute('aria-pressed')).toBe('false')
  expect(screen.queryByText('machines at one site; click opens it')).toBeNull()
})

test('a machine that is alone is told what comes next', async () => {
  const node = createFakeNode()
  node.answer('/api/peers', ok([]))
  node.answer('/api/nodes', ok([{ ID: SELF.peerId, Online: true }]))
  open(node, '/map')
  expect(await text('No other machine yet')).toBeDefined()
})
