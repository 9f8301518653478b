/** A port that another program has costs a node what would have listened there, and nothing else. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { expect, onTestFinished, test } from 'vitest'
import { startLoopbackNode } from './loopback-node.ts'
import { connectRawPeer } from './raw-peer.ts'

const SIGNALING = '/webrtc-signaling/0.0.1'

test('WebRTC connections are signalled though the port for direct ones is taken', async () => {
  const other = createSocket('udp4')
  onTestFinished(() => void other.close())
  other.bind({ address: '127.0.0.1', port: 0, exclusive: true })
  await once(other, 'listening')
  const node = await startLoopbackNode({
    network: generateNetworkConfig({}, systemRandom),
    listen: ['/ip4/127.0.0.1/tcp/0', `/ip4/127.0.0.1/udp/${other.address().port}/webrtc-direct`],
    switches: { webrtc: true, webrtcDirect: true },
  })
  onTestFinished(() => node.stop())
  await node.allTransportsReady
  expect(node.addresses().filter((text) => text.includes('/webrtc-direct'))).toEqual([])
  const { connection } = await connectRawPeer(node)
  await expect(connection.newStream(SIGNALING)).resolves.toMatchObject({ protocol: SIGNALING })
})
