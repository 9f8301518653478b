/** Adding and forgetting peers, their paths and traffic: who is meant, and what is said where something is missing. */
import { MeshError } from '@mesh/core'
import { afterEach, expect, test } from 'vitest'
import { ADDED, fakeNetwork, PEER, startTestNode, type TestNode } from './fixture.ts'

let node: TestNode | undefined
afterEach(() => node?.stop())

test('a peer that does not answer is unreachable, and stays known', async () => {
  const probe = () => Promise.reject(new MeshError('p2p.unreachable', 'no answer'))
  node = await startTestNode({ components: { network: { ...fakeNetwork(), probe } } })
  const { client } = node
  await expect(client.addPeer({ body: { Address: ADDED } })).rejects.toMatchObject({
    code: 'peer.unreachable',
    status: 503,
    message: 'no answer',
  })
  expect(await client.forgetPeer({ peer: ADDED })).toEqual({ State: 'Removed' })
})

test('a peer is forgotten by its name, and this node itself never', async () => {
  const forgotten: string[] = []
  const network = fakeNetwork()
  const named = network.peers().map((peer) => ({ ...peer, name: 'nas' }))
  const forget = (peer: string) => Promise.resolve(forgotten.push(peer) > 0)
  node = await startTestNode({ components: { network: { ...network, peers: () => named, forget } } })
  const { client, ledger } = node
  await client.forgetPeer({ peer: 'NAS' })
  expect(forgotten).toEqual([PEER])
  for (const peer of [ledger.self, 'nobody']) {
    await expect(client.forgetPeer({ peer })).rejects.toMatchObject({ code: 'peer.unknown', status: 404 })
  }
  expect(forgotten).toEqual([PEER])
})

test('a read-only node changes no peers', async () => {
  node = await startTestNode({ isReadOnly: true })
  const { client } = node
  await expect(client.addPeer({ body: { Address: ADDED } })).rejects.toMatchObject({ status: 403 })
  await expect(client.forgetPeer({ peer: PEER })).rejects.toMatchObject({ status: 403 })
})

test('a node that counts no traffic has no history of it', async () => {
  node = await startTestNode({ components: { network: { ...fakeNetwork(), traffic: undefined } } })
  await expect(node.client.getTrafficHistory()).rejects.toMatchObject({ code: 'metrics.no_reporter' })
})

test('a node whose network does not stand yet has no paths, no history and takes no peers', async () => {
  node = await startTestNode({ withoutNetwork: true })
  const { client } = node
  expect(await client.listPaths()).toEqual([])
  await expect(client.getTrafficHistory()).rejects.toMatchObject({ code: 'metrics.no_reporter' })
  await expect(client.addPeer({ body: { Address: PEER } })).rejects.toMatchObject({ code: 'node.not_ready' })
  await expect(client.forgetPeer({ peer: PEER })).rejects.toMatchObject({ code: 'node.not_ready' })
})

test('thousands of paths are answered whole', async () => {
  const path = { peer: ADDED, path: 'direct', relay: undefined, rttMs: 1, bytesPerSecond: 1 } as const
  const paths = Array.from({ length: 256 }, () => path)
  const reports = Array.from({ length: 200 }, () => ({
    peer: PEER,
    state: 'told' as const,
    ageMs: 0,
    paths,
    more: 0,
  }))
  node = await startTestNode({ components: { network: { ...fakeNetwork(), pathReports: () => reports } } })
  const told = await node.client.listPaths()
  expect(told.reduce((sum, { Paths }) => sum + Paths.length, 0)).toBe(200 * 256)
})
