import { eventually } from '@mesh/testkit'
import { act, fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CABIN, createFakeNode, NAS, peer, refusal } from '../../../test/support/fake-node.ts'
import { createPageSuite, text } from '../../../test/support/page-suite.tsx'
import { vpnStatus } from '../../../test/support/vpn-status.ts'

const { open, pass } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })
const panelOf = (name: string) => screen.findByRole('complementary', { name })

const MACHINE = {
  PeerID: NAS.peerId,
  Hostname: 'nas',
  OS: 'linux',
  Arch: 'arm64',
  Address: '10.1.0.5',
  Addresses: ['10.1.0.5'],
  Version: '0.1.0',
  OnChain: true,
  Connected: true,
  Online: true,
}

const ANSWER = { PeerID: NAS.peerId, Transport: 'tcp' }

/** A node whose member `nas` has an address, a name, a service, a file and a network behind it. */
function nodeWithParts() {
  const node = createFakeNode()
  node.answer('/api/machines', ok([MACHINE]))
  node.answer('/api/services', ok([{ Name: 'web', PeerID: NAS.peerId }]))
  node.answer('/api/files', ok([{ Name: 'photos', PeerID: NAS.peerId }]))
  node.answer('/api/dns', ok([{ Regex: 'nas.lab', Records: { A: '10.1.0.5' } }]))
  const vpn = vpnStatus(null)
  const peers = vpn.Peers.map((each, at) => (at === 0 ? { ...each, Routes: ['192.168.7.0/24'] } : each))
  node.answer('/api/vpn', ok({ ...vpn, Peers: peers }))
  return node
}

test('the machine loads, and stands with what it has in the network', async () => {
  const node = nodeWithParts()
  const gate = Promise.withResolvers<void>()
  node.answer('/api/peers', async () => {
    await gate.promise
    return { status: 200, body: [peer(NAS.peerId, 'nas')] }
  })
  open(node, `/machines/${NAS.peerId}`)
  await screen.findByRole('status', { name: 'Reading the machine' })
  gate.resolve()
  const panel = await panelOf('nas')
  await within(panel).findByText('192.168.7.0/24')
  for (const name of ['nas.lab', 'web', 'photos']) within(panel).getByRole('link', { name })
  within(panel).getByRole('link', { name: 'machines/10.1.0.5' })
  within(panel).getByText('linux, arm64')
  expect(within(panel).getByText('ssh 10.1.0.5')).toBeDefined()
})

test('machines that could not be read say why', async () => {
  const node = createFakeNode()
  node.answer('/api/machines', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  open(node, '/machines')
  const note = await screen.findByRole('alert')
  within(note).getByText('The machines could not be read')
  node.answer('/api/machines', ok([MACHINE]))
  fireEvent.click(within(note).getByRole('button', { name: 'Try again' }))
  expect(await screen.findByRole('link', { name: 'nas' })).toBeDefined()
})

test('the panel of machines that could not be read says why, too', async () => {
  const node = createFakeNode()
  node.answer('/api/machines', () => refusal(503, 'node.not_ready', 'not yet', 'Ask again soon.'))
  open(node, `/machines/${NAS.peerId}`)
  const panel = await panelOf('Machine')
  expect(await within(panel).findByText('The machine could not be read')).toBeDefined()
})

test('an id that no machine has is told apart from a broken link', async () => {
  open(createFakeNode(), '/machines/12D3KooWNobody')
  await text('No such machine is known here')
  expect(screen.getByText('12D3KooWNobody')).toBeDefined()
})

test('what is known of a machine stays while the node is away', async () => {
  const node = nodeWithParts()
  open(node, `/machines/${NAS.peerId}`)
  const panel = await panelOf('nas')
  await within(panel).findByText('192.168.7.0/24')
  await text('live')
  await act(async () => node.down())
  await text('not connected')
  await pass(7_000)
  await text('7 s old')
  expect(within(panel).getByText('192.168.7.0/24')).toBeDefined()
})

test('a ping through the VPN says which ways over UDP were tried', async () => {
  const node = nodeWithParts()
  const info = { HasVpn: true, Network: 'n', Instance: 'default', Listen: [], UptimeSeconds: 60 }
  const self = { Name: '', PeerID: CABIN.peerId, Version: '0.1.0', StartedAt: '2026-11-21T12:00:00Z' }
  node.answer('/api/node', ok({ ...info, ...self, Ownership: 'enforce' }))
  const candidate = { Endpoint: '192.0.2.7:51820', Kind: 'mapped', Answered: true, Heard: true, MTU: 1_420 }
  const blocked = { Endpoint: '10.9.0.4:51820', Kind: 'own', Answered: false, Heard: false, MTU: 0 }
  const udp = { State: 'direct', Reason: null, Endpoint: '192.0.2.7:51820', RoundTripMs: 4 }
  const Candidates = [
    { ...candidate, RoundTripMs: 4 },
    { ...blocked, RoundTripMs: null },
  ]
  node.answer(`/api/vpn/ping/${NAS.peerId}`, ok(vpnPing({ ...udp, Candidates })))
  open(node, `/machines/${NAS.peerId}`)
  const panel = await panelOf('nas')
  fireEvent.click(await within(panel).findByRole('button', { name: 'Ping' }))
  await within(panel).findByText('direct over UDP')
  const tried = within(panel).getByRole('list', { name: 'Ways over UDP that were tried' })
  expect(
    within(tried)
      .getAllByRole('listitem')
      .map(({ textContent }) => textContent),
  ).toEqual([
    expect.stringMatching(/192\.0\.2\.7:51820.*answered.*a port of its router/),
    expect.stringMatching(/10\.9\.0\.4:51820.*no answer.*an interface of it/),
  ])
})

test('a lost ping counts, and says why', async () => {
  const node = createFakeNode()
  node.answer(`/api/peers/${NAS.peerId}/ping`, () =>
    refusal(503, 'peer.unreachable', 'nobody answers', 'Is it on?'),
  )
  open(node, `/machines/${NAS.peerId}`)
  const panel = await panelOf('nas')
  fireEvent.click(await within(panel).findByRole('button', { name: 'Ping' }))
  await within(panel).findByText('nobody answers')
  expect(within(panel).getByText('1 sent, 1 lost (100 %)')).toBeDefined()
  const pong = { ...ANSWER, Name: 'nas', Member: true, Path: 'relayed', RoundTripMs: 61 }
  node.answer(`/api/peers/${NAS.peerId}/ping`, ok(pong))
  await eventually(async () => {
    await pass(1_000)
    within(panel).getByText(/^61 ms to 61 ms; [2-9] sent, 1 lost/)
  })
})

function vpnPing(UDP: object) {
  const way = { Hostname: 'nas', Address: '10.1.0.5', Way: 'sealed', Path: 'direct', MTU: 1_420 }
  return { ...ANSWER, ...way, RoundTripMs: 4, UDP }
}
