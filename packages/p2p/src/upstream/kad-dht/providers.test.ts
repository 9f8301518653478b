import { identify } from '@libp2p/identify'
import type { Stream } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { answerOfNobody, joinPrivateDht, PROVIDER_PEERS } from '../../../test/private-dht.ts'
import { startRawHost } from '../../../test/raw-peer.ts'
import type { Find } from '../../discovery/find.ts'
import { MAX_PROVIDERS_OF_ADDRESS } from '../../discovery/limits.ts'
import { PRIVATE_DHT_PROTOCOL } from '../../protocols.ts'

const GET_PROVIDERS = 3
const HOME = multiaddr('/ip4/192.0.2.1/tcp/4001').bytes

interface AnswererInit {
  readonly count: number
  /** It names none before this resolves. */
  readonly after?: Promise<void>
}

/** Starts a peer of the DHT that names so many as providers of everything. */
async function startAnswerer(at: string, { count, after = Promise.resolve() }: AnswererInit) {
  const host = await startRawHost({
    addresses: { listen: [`/ip4/${at}/tcp/0`] },
    services: { identify: identify(), ping: ping() },
  })
  await host.handle(PRIVATE_DHT_PROTOCOL, (stream: Stream) => {
    stream.addEventListener('message', ({ data }) => {
      // length, tag, type
      const [, , type] = data.subarray()
      if (type === GET_PROVIDERS)
        void after.then(() => stream.send(answerOfNobody(PROVIDER_PEERS, count, HOME)))
      else stream.send(answerOfNobody(PROVIDER_PEERS, 0, HOME))
    })
  })
  return host
}

test('who answers first with many that there are not does not keep others from being found', async () => {
  const isRead = Promise.withResolvers<void>()
  const hosts = [
    await startAnswerer('127.0.0.8', { count: MAX_PROVIDERS_OF_ADDRESS + 20 }),
    await startAnswerer('127.0.0.9', { count: 1, after: isRead.promise }),
  ]
  const dht = await joinPrivateDht(hosts)
  const found: Find[] = []
  for await (const find of dht.findProviders('name', AbortSignal.timeout(10_000))) {
    found.push(find)
    isRead.resolve()
  }
  const toldAt = (address: string) => found.filter(({ from }) => from === address)
  expect(toldAt('127.0.0.8')).toHaveLength(MAX_PROVIDERS_OF_ADDRESS)
  expect(toldAt('127.0.0.9')).toHaveLength(1)
})
