import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify, identifyPush } from '@libp2p/identify'
import { noise } from '@libp2p/noise'
import { tcp } from '@libp2p/tcp'
import { yamux } from '@libp2p/yamux'
import { createManualClock, eventually } from '@mesh/testkit'
import { createLibp2p, type Libp2p } from 'libp2p'
import { afterEach, expect, test, vi } from 'vitest'
import { leaveOutFutureRecords } from './future-records.ts'

const DAY_MS = 86_400_000
const ends: (() => unknown)[] = []
afterEach(async () => {
  vi.restoreAllMocks()
  await Promise.all(ends.splice(0).map((end) => end()))
})

async function startHost(init: Parameters<typeof createLibp2p>[0] = {}): Promise<Libp2p> {
  const host = await createLibp2p({
    addresses: { listen: ['/ip4/127.0.0.1/tcp/0'] },
    transports: [tcp()],
    connectionEncrypters: [noise()],
    streamMuxers: [yamux()],
    connectionMonitor: { enabled: false },
    services: { identify: identify(), identifyPush: identifyPush() },
    ...init,
  })
  ends.push(() => host.stop())
  return host
}

test('the addresses of a peer whose clock was a day ahead are learnt when it comes back', async () => {
  const clock = createManualClock()
  let aheadMs = DAY_MS
  vi.spyOn(Date, 'now').mockImplementation(() => clock.now() + aheadMs)
  const node = await startHost()
  leaveOutFutureRecords(node.peerStore, clock)
  const privateKey = await generateKeyPair('Ed25519')
  const told = async () =>
    (await node.peerStore.get((await peer).peerId)).addresses.map(({ multiaddr }) => multiaddr.toString())
  const own = async () => (await peer).getMultiaddrs().map((each) => each.decapsulate('/p2p').toString())
  let peer = startHost({ privateKey })
  await (await peer).dial(node.getMultiaddrs())
  await eventually(async () => expect(await told()).toEqual(await own()))
  await (await peer).stop()
  aheadMs = 0
  peer = startHost({ privateKey })
  await (await peer).dial(node.getMultiaddrs())
  await eventually(async () => expect(await told()).toEqual(await own()))
})
