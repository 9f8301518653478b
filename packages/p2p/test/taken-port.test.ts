/** A port that another program has costs a node what would have listened there, and nothing else. */
import { createSocket } from 'node:dgram'
import { once } from 'node:events'
import { generateKeyPair } from '@libp2p/crypto/keys'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { multiaddr } from '@multiformats/multiaddr'
import { createLibp2p } from 'libp2p'
import { expect, onTestFinished, test } from 'vitest'
import { startLoopbackNode } from './loopback-node.ts'

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
  const peer = await createLibp2p({
    privateKey: await generateKeyPair('Ed25519'),
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
  })
  onTestFinished(() => peer.stop())
  const connection = await peer.dial(
    node
      .addresses()
      .filter((text) => text.includes('/tcp/'))
      .map((text) => multiaddr(text)),
  )
  await expect(connection.newStream(SIGNALING)).resolves.toMatchObject({ protocol: SIGNALING })
})
