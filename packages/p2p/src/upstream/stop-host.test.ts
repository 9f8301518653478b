import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { stopHost } from './stop-host.ts'

const CERTHASH = 'uEiDDq4_xNyDorZBH3TlGazyJdOWSwvo4PUo5YHFMrvDE8g'

test('listeners of WebRTC Direct are closed before the host closes its connections', async () => {
  const order: string[] = []
  const listener = (address: string) => ({
    getAddrs: () => [multiaddr(address)],
    close: async () => void order.push(address),
  })
  const direct = `/ip4/127.0.0.1/udp/4001/webrtc-direct/certhash/${CERTHASH}`
  const listeners = [listener('/ip4/127.0.0.1/tcp/4001'), listener(direct)]
  await stopHost({
    stop: async () => void order.push('host'),
    services: {
      pubsub: {},
      parts: {
        components: {
          addressManager: {},
          identifyPush: {},
          transportManager: { getListeners: () => listeners as never },
        },
      },
    },
  })
  expect(order).toEqual([direct, 'host'])
})
