/** `/api/peers/:peer/ping`: who is meant, and what is said when nobody answers. */
import { afterEach, expect, test } from 'vitest'
import { startTestNode, PEER, type TestNode } from './fixture.ts'

const OTHER = '12D3KooWLbDHQoJ2dUwkQ3ykVLTMMHPVPD6ZZSDk42tU5RXD5YRz'

let node: TestNode | undefined
afterEach(() => node?.stop())

/** A node whose ledger says that it is the machine `here`, 10.1.0.11. */
async function startNamed(): Promise<TestNode> {
  node = await startTestNode()
  const { client, ledger } = node
  const record = {
    PeerID: ledger.self,
    Hostname: 'here',
    OS: '',
    Arch: '',
    Address: '10.1.0.11',
    Version: '',
  }
  await client.putJson({ bucket: 'machines', key: '10.1.0.11', body: record, wait: '5s' })
  return node
}

test.each(['nobody', '10.1.0.99', '__proto__', ' '])('%j is no peer', async (peer) => {
  const { client } = await startNamed()
  await expect(client.pingPeer({ peer })).rejects.toMatchObject({
    code: 'peer.unknown',
    status: 404,
    hint: expect.stringContaining('GET /api/peers') as string,
  })
})

test('this node itself is none to ping, by whatever it is called', async () => {
  const { client, ledger } = await startNamed()
  for (const peer of [ledger.self, 'HERE', '10.1.0.11']) {
    await expect(client.pingPeer({ peer })).rejects.toMatchObject({
      code: 'peer.unknown',
      message: expect.stringContaining('this node itself') as string,
    })
  }
})

test('a peer that does not answer is unreachable, with the reason', async () => {
  const { client } = await startNamed()
  await expect(client.pingPeer({ peer: OTHER })).rejects.toMatchObject({
    code: 'peer.unreachable',
    status: 503,
    message: expect.stringContaining('not connected') as string,
  })
})

test('a node whose network does not stand yet says so', async () => {
  node = await startTestNode({ withoutNetwork: true })
  await expect(node.client.pingPeer({ peer: PEER })).rejects.toMatchObject({ code: 'node.not_ready' })
})
