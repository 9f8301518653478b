import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CABIN, createFakeNode, NAS, peer, refusal } from '../../../test/support/fake-node.ts'
import { createPageSuite, text } from '../../../test/support/page-suite.tsx'
import { vpnStatus } from '../../../test/support/vpn-status.ts'

const { open } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })

const NO_EXIT = null
const UP = {
  Wanted: NAS.peerId,
  PeerID: NAS.peerId,
  Hostname: 'nas',
  State: 'up',
  Families: ['ipv4', 'ipv6'],
  Standby: [],
}

test('an exit node is chosen among those who offer one, and left again', async () => {
  const node = createFakeNode()
  node.answer('/api/vpn', ok(vpnStatus(NO_EXIT)))
  node.answer('PUT /api/vpn/exit-node', () => {
    node.answer('/api/vpn', ok(vpnStatus(UP)))
    return { status: 200, body: vpnStatus({ ...UP, State: 'searching' }) }
  })
  node.answer('DELETE /api/vpn/exit-node', () => {
    node.answer('/api/vpn', ok(vpnStatus(NO_EXIT)))
    return { status: 200, body: { State: 'Removed' } }
  })
  open(node, '/exit')
  expect(await text('Internet traffic leaves this machine directly.')).toBeDefined()
  expect(screen.queryByRole('button', { name: 'Use cabin' })).toBeNull()
  fireEvent.click(screen.getByRole('button', { name: 'Use nas' }))
  const question = await screen.findByRole('dialog', { name: 'Send all Internet traffic through nas?' })
  within(question).getByText(`mesh exit-node ${NAS.peerId}`)
  expect(node.requests).not.toContain('PUT /api/vpn/exit-node')
  fireEvent.click(within(question).getByRole('button', { name: 'Use it' }))
  expect(await text('in use')).toBeDefined()
  expect(JSON.parse(node.bodies.get('PUT /api/vpn/exit-node') ?? '')).toEqual({ Exit: NAS.peerId })
  screen.getByText('All Internet traffic goes through it.')
  screen.getByText('chosen')
  fireEvent.click(screen.getByRole('button', { name: 'Stop using it' }))
  const leaving = await screen.findByRole('dialog', { name: 'Stop using the exit node?' })
  fireEvent.click(within(leaving).getByRole('button', { name: 'Stop using it' }))
  expect(await text('Internet traffic leaves this machine directly.')).toBeDefined()
})

test('two members that call themselves alike are told apart before one of them leads all', async () => {
  const node = createFakeNode()
  const { Peers } = vpnStatus(NO_EXIT)
  const alike = Peers.map((each) => ({ ...each, Hostname: 'nas', OffersExit: ['ipv4', 'ipv6'] }))
  node.answer('/api/peers', ok([peer(NAS.peerId, 'nas'), peer(CABIN.peerId, 'nas')]))
  node.answer('/api/vpn', ok(vpnStatus({ ...UP, PeerID: CABIN.peerId }, { Peers: alike })))
  open(node, '/exit')
  const [short, other] = [NAS, CABIN].map(({ peerId }) => peerId.slice(-8))
  fireEvent.click(await screen.findByRole('button', { name: `Use nas (${short})` }))
  const name = `Send all Internet traffic through nas (${short})?`
  expect(await screen.findByRole('dialog', { name })).toBeDefined()
  within(screen.getByRole('status', { name: 'In use' })).getByText(`nas (${other})`)
})

test('of several exit nodes the nearest may be used, and the page says how many take over', async () => {
  const node = createFakeNode()
  const Peers = vpnStatus(NO_EXIT).Peers.map((each) => ({ ...each, OffersExit: ['ipv4', 'ipv6'] }))
  node.answer('/api/vpn', ok(vpnStatus(NO_EXIT, { Peers })))
  node.answer('PUT /api/vpn/exit-node', () => {
    const any = vpnStatus({ ...UP, Wanted: 'any', Standby: [CABIN.peerId] }, { Peers })
    node.answer('/api/vpn', ok(any))
    return { status: 200, body: any }
  })
  open(node, '/exit')
  fireEvent.click(await screen.findByRole('button', { name: 'Use the nearest one' }))
  const question = await screen.findByRole('dialog', {
    name: 'Send all Internet traffic through the nearest exit node?',
  })
  within(question).getByText('mesh exit-node any')
  fireEvent.click(within(question).getByRole('button', { name: 'Use it' }))
  expect(await text(/goes through it\. 1 other takes over when it fails/)).toBeDefined()
  expect(JSON.parse(node.bodies.get('PUT /api/vpn/exit-node') ?? '')).toEqual({ Exit: 'any' })
})

test.each([
  ['searching', 'looked for', /The node looks for it\. Until then this machine drops its Internet traffic/],
  ['gone', 'gone', /It cannot be reached\. This machine drops its Internet traffic; no packet bypasses/],
])('an exit node that is %s says that packets are dropped', async (State, word, words) => {
  const node = createFakeNode()
  const exit = { ...UP, Wanted: 'gate', PeerID: null, Hostname: '', Families: [], State }
  node.answer('/api/vpn', ok(vpnStatus(exit, { Peers: [] })))
  open(node, '/exit')
  expect(await text(words)).toBeDefined()
  const now = screen.getByRole('status', { name: 'In use' })
  within(now).getByText('gate')
  within(now).getByText(word)
  screen.getByText(/Nobody offers to be the exit/)
})

test('an exit node of one family says what is dropped', async () => {
  const node = createFakeNode()
  node.answer('/api/vpn', ok(vpnStatus({ ...UP, Families: ['ipv4'] })))
  open(node, '/exit')
  expect(await text(/It forwards no IPv6: this machine drops such packets/)).toBeDefined()
})

test('a refusal is told with what to do', async () => {
  const node = createFakeNode()
  node.answer('/api/vpn', ok(vpnStatus(NO_EXIT)))
  const hint = 'Start the node with --exit-node PEER, or with --fwmark NUMBER.'
  node.answer('PUT /api/vpn/exit-node', () => refusal(409, 'exit.no_mark', 'no mark', hint))
  open(node, '/exit')
  fireEvent.click(await screen.findByRole('button', { name: 'Use nas' }))
  const question = await screen.findByRole('dialog', { name: 'Send all Internet traffic through nas?' })
  fireEvent.click(within(question).getByRole('button', { name: 'Use it' }))
  expect(await text(hint)).toBeDefined()
  screen.getByText('Internet traffic leaves this machine directly.')
})

test('a node that is an exit node itself can use no other', async () => {
  const node = createFakeNode()
  node.answer('/api/vpn', ok(vpnStatus(NO_EXIT, { OffersExit: ['ipv4'] })))
  open(node, '/exit')
  expect(await text(/is an exit node itself, for IPv4 of members/)).toBeDefined()
  expect(screen.getByRole('button', { name: 'Use nas' })).toHaveProperty('disabled', true)
})

test('a node without a VPN says so', async () => {
  const node = createFakeNode()
  node.answer('/api/vpn', () => refusal(404, 'vpn.not_running', 'This node runs no VPN', ''))
  open(node, '/exit')
  expect(await text(/Exit nodes need the VPN/)).toBeDefined()
})
