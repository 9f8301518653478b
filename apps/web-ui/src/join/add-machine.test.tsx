import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { createFakeNode, CABIN, NAS, peer, refusal, SELF } from '../../test/support/fake-node.ts'
import { exactTime } from '../model/time-words.ts'
import { createPageSuite, text } from '../../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()

const dialog = () => screen.findByRole('dialog', { hidden: true, name: 'Add a machine' })

async function openDialog() {
  fireEvent.click(await screen.findByRole('button', { name: 'Add a machine' }))
  return within(await dialog())
}

function aloneNode() {
  const node = createFakeNode()
  node.answer('/api/peers', () => ({ status: 200, body: [] }))
  node.answer('/api/nodes', () => ({ status: 200, body: [{ ID: SELF.peerId, Online: true }] }))
  return node
}

test('an empty network shows the steps, with an address of this node and never the token', async () => {
  open(aloneNode(), '/')
  await text('No other machine yet')
  const inside = await openDialog()
  await inside.findByText('scp 192.168.1.5:/etc/mesh/net.token mesh.token')
  await inside.findByText(
    `sudo mesh --api --token-file mesh.token --private --discovery-bootstrap-peers /ip4/192.168.1.5/tcp/4001/p2p/${SELF.peerId}`,
  )
  fireEvent.mouseDown(inside.getByRole('tab', { hidden: true, name: 'Container' }))
  expect(await inside.findByText(/--cap-add NET_ADMIN --device \/dev\/net\/tun/)).toBeDefined()
})

test('settings that the node does not tell leave the usual name of the file', async () => {
  const node = aloneNode()
  node.answer('/api/node/settings', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again.'))
  open(node, '/machines')
  await text('No other machine yet')
  const inside = await openDialog()
  expect(await inside.findByText('scp 192.168.1.5:mesh.token mesh.token')).toBeDefined()
})

test('a machine that joins while the dialog is open appears in it with its first ping', async () => {
  const node = aloneNode()
  open(node, '/')
  await text('live')
  const inside = await openDialog()
  await inside.findByText('Waiting for a machine…')
  const answer = { PeerID: NAS.peerId, Name: 'nas', Member: true, Path: 'direct', Transport: 'tcp' }
  node.answer(`/api/peers/${NAS.peerId}/ping`, () => ({ status: 200, body: { ...answer, RoundTripMs: 7 } }))
  node.answer('/api/peers', () => ({ status: 200, body: [peer(NAS.peerId, 'nas')] }))
  await act(async () => node.send('peer.connected', { PeerID: NAS.peerId, Path: 'direct' }))
  await pass(250)
  await inside.findByText('It works')
  expect(inside.getByText('direct, 7 ms')).toBeDefined()
  expect(inside.getByText('nas')).toBeDefined()
})

test('with administrators an invite is made first, and stands in the commands', async () => {
  const node = createFakeNode()
  const admission = {
    Peerguard: false,
    Gate: false,
    NeedsApproval: false,
    HoldsKey: true,
    Revoked: false,
    Members: [],
    Invites: [],
  }
  node.answer('/api/admission', () => ({ status: 200, body: { ...admission, Administrators: [NAS.peerId] } }))
  node.answer('POST /api/admission/invites', () => ({
    status: 200,
    body: {
      Code: 'inv-123',
      Link: 'mesh://join/inv-123',
      Invite: CABIN.peerId,
      ExpiresAt: '2026-11-22T12:00:00Z',
    },
  }))
  open(node, '/')
  const inside = await openDialog()
  fireEvent.click(await inside.findByRole('button', { hidden: true, name: 'Make an invite' }))
  await inside.findByRole('img', { hidden: true, name: 'QR code of the invite' })
  inside.getByText('mesh://join/inv-123')
  inside.getByText('inv-123')
  inside.getByText(exactTime(Date.parse('2026-11-22T12:00:00Z')))
  expect(await inside.findByText(/^sudo mesh .* --invite inv-123$/)).toBeDefined()
})
