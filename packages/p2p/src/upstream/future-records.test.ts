import { generateKeyPair } from '@libp2p/crypto/keys'
import { identify, identifyPush } from '@libp2p/identify'
import { createManualClock, eventually } from '@mesh/testkit'
import type { Libp2p, Libp2pOptions } from 'libp2p'
import { afterEach, expect, test, vi } from 'vitest'
import { startRawHost } from '../../test/raw-peer.ts'
import { leaveOutFutureRecords } from './future-records.ts'

const DAY_MS = 86_400_000
afterEach(() => {
  vi.restoreAllMocks()
})

const startHost = (init: Libp2pOptions = {}): Promise<Libp2p> =>
  startRawHost({ services: { identify: identify(), identifyPush: identifyPush() }, ...init })

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
