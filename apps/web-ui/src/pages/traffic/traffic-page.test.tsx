import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { answerNetwork, createFakeNetwork, fakeHistory } from '../../../test/support/fake-network.ts'
import { createFakeNode } from '../../../test/support/fake-node.ts'
import { createPageSuite, text } from '../../../test/support/page-suite.tsx'

const { open } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })
const network = createFakeNetwork(6)

function nodeWithTraffic(history: object = fakeHistory(network.peers, Date.now())) {
  const node = createFakeNode()
  answerNetwork(node, network)
  node.answer('/api/metrics/history', ok(history))
  node.answer('/api/metrics', ok({ TotalIn: 8e9, TotalOut: 2e9, RateIn: 1.5e6, RateOut: 250e3 }))
  const totals = { TotalIn: 3e9, TotalOut: 1e9, RateIn: 0, RateOut: 0 }
  node.answer('/api/metrics/peer', ok({ [network.peers[0]?.ID ?? '']: totals }))
  node.answer('/api/metrics/protocol', ok({ '/mesh/bulk/1': totals }))
  return node
}

test('says what flows now, and by which machines and protocols it went', async () => {
  open(nodeWithTraffic(), '/traffic')
  const machines = await screen.findByRole('table', { name: 'Figures by machine' })
  await within(machines).findByText('nas')
  within(machines).getByText('all others')
  expect(await text('12')).toBeDefined()
  expect(await text('8 GB since the start')).toBeDefined()
  const protocols = screen.getByRole('table', { name: 'Figures by protocol' })
  for (const name of ['bulk transfers', 'gossip', 'ledger', '/other/thing/1'])
    within(protocols).getByText(name)
  expect(await within(protocols).findByText('4 GB')).toBeDefined()
})

test('the switch shows one direction', async () => {
  open(nodeWithTraffic(), '/traffic')
  const machines = await screen.findByRole('table', { name: 'Figures by machine' })
  await within(machines).findByText('4 GB')
  fireEvent.click(screen.getByRole('button', { name: 'In' }))
  await within(machines).findByText('3 GB')
  const all = screen.getByRole('figure', { name: 'Traffic of the last hour' })
  expect(within(all).getAllByRole('listitem')).toHaveLength(1)
})

test('a click on a column sorts by it, a second one the other way', async () => {
  open(nodeWithTraffic(), '/traffic')
  const protocols = await screen.findByRole('table', { name: 'Figures by protocol' })
  const first = () => within(protocols).getAllByRole('row')[1]?.textContent
  expect(first()).toContain('bulk transfers')
  const head = within(protocols).getByRole('columnheader', { name: 'Name' })
  fireEvent.click(within(head).getByRole('button'))
  expect(head.getAttribute('aria-sort')).toBe('ascending')
  expect(first()).toContain('/other/thing/1')
  fireEvent.click(within(head).getByRole('button'))
  expect(first()).toContain('VPN packets')
})

test('dropped packets have their reason in words and what to do', async () => {
  open(nodeWithTraffic(), '/traffic')
  expect(await text('No machine has the destination address.')).toBeDefined()
  screen.getByText('812')
  screen.getByText(/needs --accept-routes here/)
})

test('without traffic the page says so', async () => {
  const none = { In: [0, 0], Out: [0, 0], Peers: [], Protocols: [], Vpn: null }
  open(nodeWithTraffic({ StepSeconds: 10, Until: '2026-11-28T10:00:00Z', ...none }), '/traffic')
  expect(await text('Nothing counted yet')).toBeDefined()
})
