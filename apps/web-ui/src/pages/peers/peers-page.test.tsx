import type { PeerView } from '@mesh/api-contract'
import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { signerAt } from '../../../test/support/fake-network.ts'
import { CABIN, createFakeNode, NAS, peer, refusal, SELF } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })

const STRANGER = signerAt(0).peerId
const lost = peer(STRANGER, '', {
  Connected: false,
  Member: false,
  Path: null,
  FoundBy: ['dht'],
  LastError: 'dial timed out',
})

const reached = (PeerID: string) => ({
  PeerID,
  Name: '',
  Member: false,
  Path: 'direct',
  Transport: 'tcp',
  RoundTripMs: 8,
})

/** A node that knows two members, and a stranger whom it cannot reach. */
function nodeWithPeers() {
  const node = createFakeNode()
  const relayed: Partial<PeerView> = { Path: 'relayed', Relay: NAS.peerId, FoundBy: ['mdns', 'members'] }
  node.answer('/api/peers', ok([peer(NAS.peerId, 'nas'), peer(CABIN.peerId, 'cabin', relayed), lost]))
  node.answer(
    '/api/peerstore',
    ok([
      { ID: SELF.peerId, Online: true },
      { ID: STRANGER, Online: false },
    ]),
  )
  return node
}
const row = (name: string) => screen.getByRole('link', { name }).closest('[role=row]')?.textContent

test('the peers load, and stand with how each was found and is reached', async () => {
  const node = nodeWithPeers()
  const gate = Promise.withResolvers<void>()
  node.answer('/api/peerstore', async () => {
    await gate.promise
    return { status: 200, body: [] }
  })
  open(node, '/peers')
  await screen.findByRole('status', { name: 'Reading the peers' })
  gate.resolve()
  await screen.findByRole('link', { name: 'cabin' })
  expect(row('cabin')).toContain('relayed')
  expect(row('cabin')).toContain('by nas')
  expect(row('cabin')).toContain('local network, other members')
  expect(row('nas')).toContain('member, online')
})

test('peers that could not be read say why, and are read again when asked', async () => {
  const node = nodeWithPeers()
  node.answer('/api/peerstore', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  open(node, '/peers')
  const note = await screen.findByRole('alert')
  within(note).getByText('The peers could not be read')
  within(note).getByText('Ask again soon.')
  node.answer('/api/peerstore', ok([]))
  fireEvent.click(within(note).getByRole('button', { name: 'Try again' }))
  expect(await screen.findByRole('link', { name: 'nas' })).toBeDefined()
})

test('a node without peers offers to connect to an address', async () => {
  const node = createFakeNode()
  for (const path of ['/api/peers', '/api/nodes', '/api/peerstore']) node.answer(path, ok([]))
  node.answer('POST /api/peers', ok(reached(NAS.peerId)))
  open(node, '/peers')
  await text('No peer is known yet')
  fireEvent.click(screen.getAllByRole('button', { name: 'Connect to an address' }).at(-1) as HTMLElement)
  type('Address or peer id', ' /ip4/192.0.2.7/tcp/4001/p2p/x ')
  fireEvent.click(screen.getByRole('button', { name: 'Connect', hidden: true }))
  await text('connected, direct')
  expect(node.bodies.get('POST /api/peers')).toBe('{"Address":"/ip4/192.0.2.7/tcp/4001/p2p/x"}')
})

test('peers stay while the node is away, with their age', async () => {
  const node = nodeWithPeers()
  open(node, '/peers')
  await screen.findByRole('link', { name: 'cabin' })
  await text('live')
  await act(async () => node.down())
  await text('not connected')
  await pass(7_000)
  await text('7 s old')
  expect(screen.getByRole('link', { name: 'cabin' })).toBeDefined()
})

test('a peer that comes or goes is shown within half a second', async () => {
  const node = nodeWithPeers()
  open(node, '/peers')
  await screen.findByRole('link', { name: 'cabin' })
  await text('live')
  node.answer('/api/peers', ok([peer(NAS.peerId, 'nas', { Connected: false, Path: null }), lost]))
  await act(async () => node.send('peer.disconnected', { PeerID: NAS.peerId }))
  await pass(500)
  await eventually(() => expect(row('nas')).not.toContain('direct'))
})

test('the panel of a stranger says what went wrong, and connects', async () => {
  const node = nodeWithPeers()
  open(node, `/peers/${STRANGER}`)
  const panel = await screen.findByRole('complementary')
  await within(panel).findByText('dial timed out')
  within(panel).getByText('no: it is known to this node, and not in the network')
  within(panel).getByText('public DHT')
  node.answer(`/api/peers/${STRANGER}/ping`, () =>
    refusal(503, 'peer.unreachable', 'nobody answers', 'Is it on?'),
  )
  fireEvent.click(within(panel).getByRole('button', { name: 'Connect' }))
  await within(panel).findByText('nobody answers')
  node.answer(`/api/peers/${STRANGER}/ping`, ok(reached(STRANGER)))
  fireEvent.click(within(panel).getByRole('button', { name: 'Connect' }))
  expect(await within(panel).findByText('connected, direct')).toBeDefined()
})

test('forgetting a peer asks first, says what follows, and leaves the panel', async () => {
  const node = nodeWithPeers()
  node.answer(`DELETE /api/peers/${CABIN.peerId}`, ok({ State: 'Removed' }))
  const { router } = open(node, `/peers/${CABIN.peerId}?q=member`)
  fireEvent.click(await screen.findByRole('button', { name: 'Forget' }))
  const dialog = await screen.findByRole('dialog', { hidden: true, name: 'Forget cabin?' })
  within(dialog).getByText(/It stays a member of the network/)
  within(dialog).getByText(new RegExp(`^curl -X DELETE .*/api/peers/${CABIN.peerId}$`))
  fireEvent.click(within(dialog).getByRole('button', { name: 'Forget', hidden: true }))
  await eventually(() => expect(router.state.location.pathname).toBe('/peers'))
  expect(router.state.location.search).toEqual({ q: 'member' })
  expect(node.requests).toContain(`DELETE /api/peers/${CABIN.peerId}`)
})

test('a peer that this node does not know is told apart from a broken link', async () => {
  open(nodeWithPeers(), '/peers/12D3KooWNobody')
  await text('No such peer is known here')
  expect(screen.getByText('12D3KooWNobody')).toBeDefined()
})

test('the words of the filter count the peers that fit, and choose them', async () => {
  open(nodeWithPeers(), '/peers')
  await screen.findByRole('link', { name: 'cabin' })
  fireEvent.click(screen.getByRole('link', { name: /strangers/ }))
  await eventually(() => expect(screen.queryByRole('link', { name: 'cabin' })).toBeNull())
  expect(screen.getAllByRole('row')).toHaveLength(2)
})
