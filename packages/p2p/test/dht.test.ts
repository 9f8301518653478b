/** A network that swallows what is sent to the public DHT's own doors, as those without DNS do. */
import { identify } from '@libp2p/identify'
import { kadDHT } from '@libp2p/kad-dht'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { expect, onTestFinished, test } from 'vitest'
import { joinDht } from '../src/discovery/dht.ts'
import type { RendezvousDht } from '../src/discovery/rendezvous.ts'
import { createP2pMember } from '../src/host/p2p-member.ts'
import type { Platform } from '../src/host/platform.ts'
import { startRawHost } from './raw-peer.ts'

test('a peer that a person named lets into the DHT while its own doors do not answer', async () => {
  const stranger = await startRawHost({
    services: {
      identify: identify(),
      ping: ping(),
      dht: kadDHT({ protocol: '/ipfs/kad/1.0.0', clientMode: false }),
    },
  })
  const knocked: string[] = []
  let dht: RendezvousDht | undefined
  let waiting: Promise<number> | undefined
  const platform: Platform = {
    transports: [tcp()],
    listen: ['/ip4/127.0.0.1/tcp/0'],
    async join(context) {
      const dialOne = (address: { toString(): string }, signal: AbortSignal) => {
        knocked.push(address.toString())
        return new Promise<never>((_, reject) => {
          signal.addEventListener('abort', () => reject(new Error('given up')), { once: true })
        })
      }
      dht = await joinDht({ ...context, dialOne }, { isPrivate: false })
      // before anybody is connected
      waiting = dht.join(new AbortController().signal)
      return async () => {}
    },
  }
  const node = await createP2pMember(
    {
      network: generateNetworkConfig({}, systemRandom),
      identity: systemRandom.bytes(32),
      bootstrapPeers: stranger.getMultiaddrs().map(String),
    },
    platform,
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  onTestFinished(() => node.stop())
  await eventually(() => expect(dht).toBeDefined())
  // each look takes in who is connected by now; on loopback nothing else does, as the DHT keeps no private addresses
  await eventually(() => expect(node.peers().some(({ connected }) => connected)).toBe(true))
  const looks = eventually(async () => expect(await dht?.join(AbortSignal.timeout(500))).toBe(1), {
    withinMs: 10_000,
  })
  expect(await waiting).toBe(1)
  await looks
  expect(knocked.length).toBeGreaterThan(0)
  expect(knocked.every((address) => address.startsWith('/dnsaddr/bootstrap.libp2p.io/'))).toBe(true)
})
