import { randomBytes } from 'node:crypto'
import { identify } from '@libp2p/identify'
import type { Stream } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { tcp } from '@libp2p/tcp'
import { silentLogger, systemClock, systemRandom } from '@mesh/core'
import { generateNetworkConfig } from '@mesh/network'
import { eventually } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, onTestFinished, test } from 'vitest'
import { startRawHost } from '../../test/raw-peer.ts'
import { joinDht } from '../discovery/dht.ts'
import type { Find } from '../discovery/find.ts'
import type { RendezvousDht } from '../discovery/rendezvous.ts'
import { createP2pMember } from '../host/p2p-member.ts'
import type { Platform } from '../host/platform.ts'
import { MAX_PROVIDERS_OF_ADDRESS } from '../limits.ts'
import { PRIVATE_DHT_PROTOCOL } from '../protocols.ts'

const GET_PROVIDERS = 3
const HOME = multiaddr('/ip4/192.0.2.1/tcp/4001').bytes
const varint = (value: number) => Uint8Array.of((value & 0x7f) | 0x80, value >> 7)
const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([Uint8Array.of((number << 3) | 2), varint(bytes.length), bytes])
/** A peer's id in bytes, of a key that nobody has. */
const someId = () => Buffer.concat([Uint8Array.of(0, 36, 8, 1, 18, 32), randomBytes(32)])

/** An answer that names providers. */
function answerWith(ids: readonly Uint8Array[]): Uint8Array {
  const providers = ids.map((id) => field(9, Buffer.concat([field(1, id), field(2, HOME)])))
  const message = Buffer.concat([Uint8Array.of(8, 3), ...providers])
  return Buffer.concat([varint(message.length), message])
}

interface AnswererInit {
  readonly ids: readonly Uint8Array[]
  /** It names none before this resolves. */
  readonly after?: Promise<void>
}

/** Starts a peer of the DHT that names these as providers of everything. */
async function startAnswerer(at: string, { ids, after = Promise.resolve() }: AnswererInit) {
  const host = await startRawHost({
    addresses: { listen: [`/ip4/${at}/tcp/0`] },
    services: { identify: identify(), ping: ping() },
  })
  await host.handle(PRIVATE_DHT_PROTOCOL, (stream: Stream) => {
    stream.addEventListener('message', ({ data }) => {
      // length, tag, type
      const [, , type] = data.subarray()
      if (type === GET_PROVIDERS) void after.then(() => stream.send(answerWith(ids)))
      else stream.send(answerWith([]))
    })
  })
  return host
}

test('who answers first with many that there are not does not keep others from being found', async () => {
  const isRead = Promise.withResolvers<void>()
  const liars = Array.from({ length: MAX_PROVIDERS_OF_ADDRESS + 20 }, someId)
  const hosts = [
    await startAnswerer('127.0.0.8', { ids: liars }),
    await startAnswerer('127.0.0.9', { ids: [someId()], after: isRead.promise }),
  ]
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
      bootstrapPeers: hosts.flatMap((host) => host.getMultiaddrs().map(String)),
    },
    platform,
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  onTestFinished(() => node.stop())
  await eventually(async () => expect(await dht?.join(AbortSignal.timeout(500))).toBe(2), {
    withinMs: 10_000,
  })
  const found: Find[] = []
  for await (const find of dht?.findProviders('name', AbortSignal.timeout(10_000)) ?? []) {
    found.push(find)
    isRead.resolve()
  }
  const toldAt = (address: string) => found.filter(({ from }) => from === address)
  expect(toldAt('127.0.0.8')).toHaveLength(MAX_PROVIDERS_OF_ADDRESS)
  expect(toldAt('127.0.0.9')).toHaveLength(1)
})
