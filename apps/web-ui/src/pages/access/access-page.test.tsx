import type { AdmissionView } from '@mesh/api-contract'
import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CABIN, createFakeNode, type FakeNode, NAS, refusal, SELF } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'

const { open, pass } = createPageSuite()
const region = (name: string) => screen.findByRole('region', { name })
const ADMIN = CABIN.peerId

const member = (PeerID: string, State: AdmissionView['Members'][number]['State'], Name = '') => ({
  PeerID,
  Name,
  State,
  Administrator: ADMIN,
  EndsAt: null,
})
const invite = (Label: string, State: AdmissionView['Invites'][number]['State'], Claims: string[] = []) => ({
  Invite: SELF.peerId,
  Administrator: ADMIN,
  Label,
  ExpiresAt: '2030-01-01T00:00:00Z',
  MemberForSeconds: null,
  State,
  Claims,
})

function withAdmission(changes: Partial<AdmissionView>): FakeNode {
  const node = createFakeNode()
  node.answer('/api/admission', () => ({
    status: 200,
    body: {
      Peerguard: false,
      Gate: false,
      Administrators: [ADMIN],
      NeedsApproval: false,
      HoldsKey: true,
      Revoked: false,
      Members: [],
      Invites: [],
      ...changes,
    },
  }))
  return node
}
const stated = () => ({ status: 200, body: { State: 'Stated' } })

test('where anyone who has the token is in, the page says how to change that', async () => {
  open(createFakeNode(), '/access')
  await text('Anyone who has the token of this network is in')
  await text(/mesh admin init/)
  expect(screen.getByRole('link', { name: 'Access' })).toBeDefined()
})

test('who waits stands first, and is let in with one click', async () => {
  const node = withAdmission({
    Members: [
      member(SELF.peerId, 'admitted', 'desk'),
      member(CABIN.peerId, 'revoked', 'cabin'),
      member(NAS.peerId, 'waiting', 'nas'),
    ],
  })
  node.answer(`PUT /api/admission/members/${NAS.peerId}`, stated)
  open(node, '/access')
  await text('1 machine is let in, 1 shut out. 1 waits to be let in.')
  const rows = within(await region('Members'))
    .getAllByRole('row')
    .slice(1)
  expect(rows.map((row) => row.textContent?.match(/nas|desk|cabin/)?.[0])).toEqual(['nas', 'desk', 'cabin'])
  fireEvent.click(screen.getByRole('button', { name: 'Let in nas' }))
  await eventually(() =>
    expect(node.bodies.get(`PUT /api/admission/members/${NAS.peerId}`)).toBe('{"State":"admitted"}'),
  )
})

test('a membership says when it ends, and approval of invites is switched on', async () => {
  const soon = new Date(Date.now() + 2 * 24 * 3_600_000 + 60_000).toISOString()
  const node = withAdmission({
    Members: [
      { ...member(NAS.peerId, 'admitted', 'nas'), EndsAt: soon },
      { ...member(CABIN.peerId, 'ended', 'cabin'), EndsAt: '2020-01-01T00:00:00Z' },
    ],
  })
  node.answer('PUT /api/admission/approval', stated)
  open(node, '/access')
  await text(/ends in 2 d/)
  expect(screen.getByRole('button', { name: 'Let in again cabin' })).toBeDefined()
  fireEvent.click(screen.getByRole('button', { name: 'Ask for approval' }))
  await eventually(() => expect(node.bodies.get('PUT /api/admission/approval')).toBe('{"Required":true}'))
})

test('shutting out asks first, says what stops, and keeps the reason when the node refuses', async () => {
  const node = withAdmission({ Members: [member(NAS.peerId, 'admitted', 'nas')] })
  const path = `PUT /api/admission/members/${NAS.peerId}`
  node.answer(path, () => refusal(403, 'node.local_only', 'only the machine itself may ask', 'Ask there.'))
  open(node, '/access')
  fireEvent.click(await screen.findByRole('button', { name: 'Shut out nas' }))
  await text('Shut nas out?')
  await text(/services, files, relays and names/)
  expect(node.requests).not.toContain(path)
  fireEvent.click(screen.getByRole('button', { name: 'Leave it' }))
  fireEvent.click(screen.getByRole('button', { name: 'Shut out nas' }))
  fireEvent.click(await screen.findByRole('button', { name: 'Shut out' }))
  await text('only the machine itself may ask')
  await text('Ask there.')
  expect(node.bodies.get(path)).toBe('{"State":"revoked"}')
})

test('an invite is made, its code shown once, and an open one cancelled', async () => {
  const node = withAdmission({ Invites: [invite('phone', 'open'), invite('old', 'used', [NAS.peerId])] })
  const Code = `mesh-invite-${'a'.repeat(200)}`
  node.answer('POST /api/admission/invites', () => ({
    status: 200,
    body: { Code, Link: `mesh://join/${Code}`, Invite: SELF.peerId, ExpiresAt: '2030-01-01T00:00:00Z' },
  }))
  node.answer(`DELETE /api/admission/invites/${SELF.peerId}`, stated)
  open(node, '/access')
  fireEvent.click(await screen.findByRole('button', { name: 'Invite a machine' }))
  type('For whom', 'laptop')
  fireEvent.click(screen.getByLabelText('1 hour'))
  fireEvent.click(screen.getByRole('button', { name: 'Make an invite' }))
  await text(Code)
  screen.getByRole('img', { name: 'QR code of the invite' })
  const command = `sudo mesh --token-file mesh.token --invite ${Code}`
  // the name of a button has all that is seen of it, however long
  expect(screen.getByRole('button', { name: `Copy command ${command}` }).textContent).toBe(command)
  expect(node.bodies.get('POST /api/admission/invites')).toBe('{"LifeSeconds":3600,"Label":"laptop"}')
  fireEvent.click(screen.getByRole('button', { name: 'Done' }))
  expect(screen.queryByText(Code)).toBeNull()
  expect(within(await region('Invites')).getAllByText('nas')).toHaveLength(1)
  fireEvent.click(screen.getByRole('button', { name: 'Cancel' }))
  await text('Cancel the invite for phone?')
  fireEvent.click(screen.getByRole('button', { name: 'Cancel the invite' }))
  await eventually(() => expect(node.requests).toContain(`DELETE /api/admission/invites/${SELF.peerId}`))
})

test('a node without the key shows who is in and changes nothing; one that was shut out says so', async () => {
  open(
    withAdmission({ HoldsKey: false, Revoked: true, Members: [member(NAS.peerId, 'admitted', 'nas')] }),
    '/access',
  )
  await text(/holds no administrator's key/)
  await text(/This node itself was shut out/)
  expect(screen.queryByRole('button', { name: 'Shut out nas' })).toBeNull()
  expect(screen.queryByRole('button', { name: 'Invite a machine' })).toBeNull()
})

test('the peer gate shows its trust zone, and switching it on says who loses what', async () => {
  const node = withAdmission({ Peerguard: true, Administrators: [], HoldsKey: false })
  node.answer('/api/ledger/trustzone', () => ({ status: 200, body: { [NAS.peerId]: '' } }))
  node.answer('PUT /api/peergate/enable', () => ({ status: 200, body: true }))
  open(node, '/access')
  const zone = await screen.findByRole('list', { name: 'Trust zone' })
  await within(zone).findByText('nas')
  screen.getByRole('heading', { name: 'Trust zone' })
  const gate = screen.getByRole('switch', { name: 'Peer gate' })
  expect(gate.getAttribute('aria-checked')).toBe('false')
  fireEvent.click(gate)
  await text(/only the trust zone \(1\) can use the network with this node/)
  expect(node.requests).not.toContain('PUT /api/peergate/enable')
  const dialog = screen.getByRole('dialog')
  fireEvent.click(within(dialog).getByRole('button', { name: 'Switch on' }))
  await eventually(() => expect(node.requests).toContain('PUT /api/peergate/enable'))
})

test('who waits under the name of a member is told apart from it', async () => {
  const node = withAdmission({ Members: [member(SELF.peerId, 'waiting', 'nas')] })
  open(node, '/access')
  const name = `Let in nas (${SELF.peerId.slice(-8)})`
  expect(await screen.findByRole('button', { name })).toBeDefined()
})

test('what stands in the trust zone and is no id is shown as it is written, and few of many are drawn', async () => {
  const node = withAdmission({ Peerguard: true, Administrators: [], HoldsKey: false })
  const keys = ['\u202epeer', `x${NAS.peerId}`, ...Array.from({ length: 3_000 }, (_, at) => `z${at}`)]
  node.answer('/api/ledger/trustzone', () => ({
    status: 200,
    body: Object.fromEntries(keys.map((key) => [key, ''])),
  }))
  open(node, '/access')
  const zone = within(await screen.findByRole('list', { name: 'Trust zone' }))
  expect(zone.getAllByText('\\u202epeer')).toHaveLength(2)
  expect(zone.getAllByText(`x${NAS.peerId}`)).toHaveLength(2)
  expect(zone.getAllByRole('listitem')).toHaveLength(200)
  fireEvent.click(screen.getByRole('button', { name: /^Show 200 more of 2,802$/ }))
  expect(zone.getAllByRole('listitem')).toHaveLength(400)
})

test('what cannot be read is said, with a way to try again', async () => {
  const node = createFakeNode()
  let reply = refusal(500, 'http.internal', 'Something went wrong', 'See the log.')
  node.answer('/api/admission', () => reply)
  open(node, '/access')
  await text('Who may use the network could not be read')
  reply = {
    status: 200,
    body: {
      Peerguard: true,
      Gate: true,
      NeedsApproval: false,
      Administrators: [],
      HoldsKey: false,
      Revoked: false,
      Members: [],
      Invites: [],
    },
  }
  fireEvent.click(screen.getByRole('button', { name: 'Try again' }))
  expect(await text(/^Nobody is in the trust zone/)).toBeDefined()
})

test('a node that asks for a token gets one, kept for the tab; a wrong one is said to be so', async () => {
  const node = createFakeNode()
  const right = 'right'
  let asks = true
  const { fetch } = node
  const asking: FakeNode = {
    ...node,
    fetch: async (url, init) => {
      if (!asks || init.headers['authorization'] === `Bearer ${right}`) return fetch(url, init)
      const { status, body } = refusal(401, 'http.unauthorized', 'This node asks for a token', 'Send one.')
      return Response.json(body, { status })
    },
  }
  open(asking, '/ledger?bucket=notes')
  await text('This node asks for a token')
  await pass(20_000)
  const before = node.requests.length
  type('Token', 'wrong')
  fireEvent.click(screen.getByRole('button', { name: 'Open' }))
  await text('The node does not know this token.')
  type('Token', ` ${right}\n`)
  fireEvent.click(screen.getByRole('button', { name: 'Open' }))
  await text('notes')
  expect(before).toBe(0)
  expect(sessionStorage.getItem('mesh.token')).toBe(right)
  fireEvent.click(await screen.findByRole('button', { name: 'Forget the token' }))
  await text('This node asks for a token')
  expect(sessionStorage.getItem('mesh.token')).toBeNull()
  asks = false
  await act(async () => {})
})
