/** A node that meets raw peers in a private DHT, and what those answer it. */
import { randomBytes } from 'node:crypto'
import { tcp } from '@libp2p/tcp'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import type { Multiaddr } from '@multiformats/multiaddr'
import { expect, onTestFinished } from 'vitest'
import { joinDht } from '../src/discovery/dht.ts'
import type { RendezvousDht } from '../src/discovery/rendezvous.ts'
import { createP2pMember } from '../src/host/p2p-member.ts'
import type { Platform } from '../src/host/platform.ts'

/** Starts a node, which ends with the test; resolves when all these peers are in its DHT. */
export async function joinPrivateDht(
  peers: readonly { getMultiaddrs(): Multiaddr[] }[],
): Promise<RendezvousDht> {
  let dht: RendezvousDht | undefined
  const platform: Platform = {
    transports: [tcp()],
    listen: ['/ip4/127.0.0.1/tcp/0'],
    async join(context) {
      dht = await joinDht(context, { isPrivate: true })
      return async () => {}
    },
  }
  const node = await createP2pMember(
    {
      network: generateNetworkConfig({}, systemRandom),
      identity: systemRandom.bytes(32),
      bootstrapPeers: peers.flatMap((peer) => peer.getMultiaddrs().map(String)),
    },
    platform,
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  onTestFinished(() => node.stop())
  await eventually(async () => expect(await dht?.join(AbortSignal.timeout(500))).toBe(peers.length), {
    withinMs: 10_000,
  })
  if (dht === undefined) throw new Error('no DHT')
  return dht
}

/** The fields of an answer's message (libp2p's kad-dht specification, 'RPC messages'). */
export const CLOSER_PEERS = 8
export const PROVIDER_PEERS = 9

/** An answer, as a stream brings it, that tells in one field of so many peers which there are not, all at one address. */
export function answerOfNobody(kind: number, count: number, home: Uint8Array): Uint8Array {
  const peers = Array.from({ length: count }, () => {
    const id = Buffer.concat([Uint8Array.of(0, 36, 8, 1, 18, 32), randomBytes(32)])
    return field(kind, Buffer.concat([field(1, id), field(2, home)]))
  })
  const message = Buffer.concat([Uint8Array.of(8, 3), ...peers])
  return Buffer.concat([varint(message.length), message])
}

function field(number: number, bytes: Uint8Array): Uint8Array {
  return Buffer.concat([Uint8Array.of((number << 3) | 2), varint(bytes.length), bytes])
}

/** In two bytes, up to 16,383. */
function varint(value: number): Uint8Array {
  return Uint8Array.of((value & 0x7f) | 0x80, value >> 7)
}
