import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import type { P2pMember } from '../src/node.ts'
import { startLoopbackNode } from './loopback-node.ts'

const STREAMS = 1_000
const AT_A_TIME = 25
const PROTOCOL = '/mesh/test/1'
const network = generateNetworkConfig({}, systemRandom)
const nodes: P2pMember[] = []
afterEach(async () => {
  await Promise.all(nodes.splice(0).map((node) => node.stop()))
})

async function start(bootstrapPeers: readonly string[] = []): Promise<P2pMember> {
  const node = await startLoopbackNode({
    network,
    listen: ['/ip4/127.0.0.1/udp/0/quic-v1'],
    bootstrapPeers,
    switches: { tcp: false, quic: true },
  })
  nodes.push(node)
  await node.allTransportsReady
  return node
}

test('of 1,000 streams of one packet all arrive over QUIC', async () => {
  const a = await start()
  const b = await start(a.addresses())
  await eventually(() =>
    expect(b.peer(a.self)).toMatchObject({ connected: true, member: true, transport: 'quic-v1' }),
  )
  const arrived = new Set<number>()
  await a.channels.handle(
    PROTOCOL,
    { maxMessageBytes: 2_000, maxPerPeer: AT_A_TIME * 2 },
    async (channel) => {
      for await (const message of channel.messages()) {
        arrived.add(new DataView(message.buffer, message.byteOffset).getUint32(0))
      }
    },
  )
  const send = async (at: number) => {
    const channel = await b.channels.open(a.self, PROTOCOL, { maxMessageBytes: 2_000 })
    const packet = new Uint8Array(1_200)
    new DataView(packet.buffer).setUint32(0, at)
    await channel.send(packet)
    await channel.close()
  }
  for (let at = 0; at < STREAMS; at += AT_A_TIME) {
    await Promise.all(Array.from({ length: AT_A_TIME }, (_, offset) => send(at + offset)))
  }
  await eventually(() => expect(arrived.size).toBe(STREAMS), { withinMs: 10_000 })
}, 60_000)
