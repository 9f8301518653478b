/** What `/api/vpn` answers where there is no VPN, no such machine, or no answer. */
import type { VpnPeerView } from '@mesh/api-contract'
import { MeshError } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { PING_TIMEOUT_MS } from '../src/limits.ts'
import { fakeMachine, fakeVpn, PEER, startTestNode, type TestNode } from './fixture.ts'

const OTHER = '12D3KooWLbDHQoJ2dUwkQ3ykVLTMMHPVPD6ZZSDk42tU5RXD5YRz'

let node: TestNode | undefined
afterEach(() => node?.stop())

async function clientOf(peers: readonly VpnPeerView[]) {
  node = await startTestNode({ vpn: fakeVpn(peers) })
  return node.unixClient
}

test('a node without the VPN says how to have one', async () => {
  node = await startTestNode()
  const absent = { code: 'vpn.not_running', status: 404, hint: expect.stringContaining('`mesh`') as string }
  await expect(node.unixClient.getVpn()).rejects.toMatchObject(absent)
  await expect(node.unixClient.pingMachine({ machine: '10.1.0.12' })).rejects.toMatchObject(absent)
})

test.each(['10.1.0.99', 'nobody', OTHER, '10.1.0.012', '__proto__'])('%s is no machine', async (machine) => {
  const client = await clientOf([fakeMachine({ Path: 'direct' })])
  await expect(client.pingMachine({ machine })).rejects.toMatchObject({
    code: 'vpn.unknown_machine',
    status: 404,
    message: expect.stringContaining(machine) as string,
  })
})

test('this machine itself is none to ping', async () => {
  const client = await clientOf([])
  for (const machine of ['10.1.0.11', node?.ledger.self ?? '']) {
    await expect(client.pingMachine({ machine })).rejects.toMatchObject({
      code: 'vpn.unknown_machine',
      message: expect.stringContaining('this machine itself') as string,
    })
  }
})

test('a name that several machines have names them', async () => {
  const client = await clientOf([fakeMachine({}), fakeMachine({ PeerID: OTHER, Addresses: ['10.1.0.13'] })])
  await expect(client.pingMachine({ machine: 'nas' })).rejects.toMatchObject({
    code: 'vpn.ambiguous_machine',
    status: 409,
    message: expect.stringContaining('10.1.0.12, 10.1.0.13') as string,
  })
})

test('a machine without a name has none in common with others', async () => {
  const client = await clientOf([fakeMachine({ Hostname: '' })])
  await expect(client.pingMachine({ machine: ' ' })).rejects.toMatchObject({ code: 'vpn.unknown_machine' })
})

test('a machine that does not answer is unreachable', async () => {
  const client = await clientOf([fakeMachine({})])
  await expect(client.pingMachine({ machine: PEER })).rejects.toMatchObject({
    code: 'vpn.unreachable',
    status: 503,
  })
})

test('a machine that answers too late is unreachable too', async () => {
  const clock = createManualClock()
  const begun = Promise.withResolvers<void>()
  node = await startTestNode({
    clock,
    vpn: {
      ...fakeVpn([fakeMachine({})]),
      probe: (_peer, signal) =>
        new Promise((_resolve, reject) => {
          signal.addEventListener('abort', () => reject(signal.reason as Error))
          begun.resolve()
        }),
    },
  })
  const answer = node.unixClient.pingMachine({ machine: PEER })
  answer.catch(() => {})
  await begun.promise
  await clock.advance(PING_TIMEOUT_MS)
  await expect(answer).rejects.toMatchObject({
    code: 'vpn.unreachable',
    message: expect.stringContaining('10 s') as string,
  })
})

test('whatever kept a machine from being reached is said', async () => {
  node = await startTestNode({
    vpn: {
      ...fakeVpn([fakeMachine({})]),
      probe: () => Promise.reject(new MeshError('p2p.unreachable', 'no address', { hint: 'Wait.' })),
    },
  })
  await expect(node.unixClient.pingMachine({ machine: PEER })).rejects.toMatchObject({
    code: 'vpn.unreachable',
    message: 'no address',
    hint: 'Wait.',
  })
})

test('a machine that left meanwhile is unknown', async () => {
  node = await startTestNode({
    vpn: {
      ...fakeVpn([fakeMachine({})]),
      probe: () => Promise.reject(new MeshError('vpn.unknown_peer', 'gone')),
    },
  })
  await expect(node.unixClient.pingMachine({ machine: PEER })).rejects.toMatchObject({
    code: 'vpn.unknown_machine',
  })
})
