import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { createFakeNode } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'

const { open } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })

const PHONE = {
  Name: 'phone',
  Address: '10.1.0.9',
  Address6: 'fd00:1::9',
  PublicKey: 'AAAA',
  AddedAt: '2026-01-01T00:00:00.000Z',
  FullTunnel: true,
  NodeEndpoint: '192.0.2.7:51820',
  NodeMoved: true,
  Handshake: null,
  Endpoint: null,
  PacketsIn: 0,
  PacketsOut: 0,
  BytesIn: 2_400,
  BytesOut: 0,
}

test('a guest is added, its code is shown once, and it is removed', async () => {
  const node = createFakeNode()
  node.answer('/api/vpn/guests', ok([]))
  node.answer('POST /api/vpn/guests', () => {
    node.answer('/api/vpn/guests', ok([PHONE]))
    const { Name, Address, Address6, PublicKey } = PHONE
    const Configuration = '[Interface]\nPrivateKey = once\n[Peer]\nAllowedIPs = 0.0.0.0/0, ::/0\n'
    return {
      status: 200,
      body: { Name, Address, Address6, PublicKey, Endpoint: '192.0.2.7:51820', Configuration },
    }
  })
  node.answer('DELETE /api/vpn/guests/phone', () => {
    node.answer('/api/vpn/guests', ok([]))
    return { status: 200, body: { State: 'Removed' } }
  })
  open(node, '/guests')
  expect(await text('No guests.')).toBeDefined()
  type('Name', 'phone')
  fireEvent.click(screen.getByRole('checkbox', { name: /Full tunnel/ }))
  fireEvent.click(screen.getByRole('button', { name: 'Add guest' }))
  const shown = await screen.findByRole('region', { name: 'Configuration of phone' })
  within(shown).getByRole('img', { name: 'QR code of the configuration of phone' })
  within(shown).getByText(/PrivateKey = once/)
  within(shown).getByText(/answers no DNS that the guest could ask/)
  fireEvent.click(within(shown).getByRole('button', { name: 'Done' }))
  const list = await screen.findByRole('region', { name: 'Guests of this node' })
  expect(await within(list).findByText('never seen')).toBeDefined()
  within(list).getByText('fd00:1::9')
  within(list).getByText('full tunnel')
  within(list).getByText(/looks for this node at 192\.0\.2\.7:51820/)
  within(list).getByText('2.4 kB')
  expect(screen.queryByText(/PrivateKey/)).toBeNull()
  fireEvent.click(within(list).getByRole('button', { name: 'Remove phone' }))
  const question = await screen.findByRole('dialog', { name: 'Remove phone?' })
  within(question).getByText('mesh guest remove phone')
  fireEvent.click(within(question).getByRole('button', { name: 'Remove' }))
  expect(await text('No guests.')).toBeDefined()
})

test('a guest that was seen says when', async () => {
  const node = createFakeNode()
  node.answer('/api/vpn/guests', ok([{ ...PHONE, Handshake: new Date(Date.now() - 240_000).toISOString() }]))
  open(node, '/guests')
  expect((await text('4 min ago')).parentElement?.textContent).toBe('seen 4 min ago')
})

test('a node without a VPN says so', async () => {
  const node = createFakeNode()
  const body = {
    Code: 'vpn.not_running',
    Message: 'This node runs no VPN',
    Hint: '',
    RequestID: '1',
    Issues: [],
  }
  node.answer('/api/vpn/guests', () => ({ status: 404, body }))
  open(node, '/guests')
  expect(await text(/Guests need the VPN/)).toBeDefined()
})
