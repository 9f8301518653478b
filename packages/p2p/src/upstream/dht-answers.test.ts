import { randomBytes } from 'node:crypto'
import { identify } from '@libp2p/identify'
import type { PeerInfo, Stream } from '@libp2p/interface'
import { kadDHT, passthroughMapper } from '@libp2p/kad-dht'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { startRawHost } from '../../test/raw-peer.ts'
import { tellInTurns } from './dht-answers.ts'

const PROTOCOL = '/mesh/test/kad'
const NAMED = 8

const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([Uint8Array.of((number << 3) | 2, bytes.length), bytes])

/** An answer which names peers that there are not. */
function answer(): Uint8Array {
  const home = multiaddr('/ip4/127.0.0.1/tcp/9').bytes
  const closer = Array.from({ length: NAMED }, () => {
    const id = Buffer.concat([Uint8Array.of(0, 36, 8, 1, 18, 32), randomBytes(32)])
    return field(8, Buffer.concat([field(1, id), field(2, home)]))
  })
  const message = Buffer.concat([Uint8Array.of(8, 4), ...closer])
  return Buffer.concat([Uint8Array.of((message.length & 0x7f) | 0x80, message.length >> 7), message])
}

const startHost = (kad: Parameters<typeof kadDHT>[0], change: (dht: object) => void) =>
  startRawHost({
    services: {
      identify: identify(),
      ping: ping(),
      dht: (components: Parameters<ReturnType<typeof kadDHT>>[0]) => {
        const dht = kadDHT(kad)(components)
        change(dht)
        return dht
      },
    },
  })

test('the peers that an answer names are kept and told of one after the other, each in its turn', async () => {
  const kad = { protocol: PROTOCOL, clientMode: false, peerInfoMapper: passthroughMapper }
  const liar = await startHost(kad, () => {})
  await liar.unhandle(PROTOCOL)
  await liar.handle(PROTOCOL, (stream: Stream) =>
    stream.addEventListener('message', () => void stream.send(answer())),
  )
  const deeds: string[] = []
  const turns = {
    turn: async () => void deeds.push('turn'),
  }
  const keep = async ({ id }: PeerInfo) => {
    deeds.push(`keep ${id}`)
    await new Promise((resolve) => setImmediate(resolve))
    deeds.push(`kept ${id}`)
  }
  const node = await startHost(kad, (dht) => tellInTurns(dht, keep, turns))
  const listened = node.services.dht as unknown as EventTarget
  listened.addEventListener('peer', (event) =>
    deeds.push(`told ${(event as CustomEvent<PeerInfo>).detail.id}`),
  )
  await node.dial(liar.getMultiaddrs())
  const named: string[] = []
  const key = randomBytes(32)
  for await (const event of node.services.dht.getClosestPeers(key, { signal: AbortSignal.timeout(10_000) })) {
    if (event.name !== 'PEER_RESPONSE') continue
    named.push(...event.closer.map(({ id }) => id.toString()))
    break
  }
  expect(named).toHaveLength(NAMED)
  const theirs = deeds.filter((deed) => deed === 'turn' || named.some((id) => deed.endsWith(id)))
  const first = theirs.findIndex((deed) => deed.endsWith(named[0] ?? ''))
  expect(theirs.slice(first - 1, first - 1 + 4 * NAMED)).toEqual(
    named.flatMap((id) => ['turn', `keep ${id}`, `kept ${id}`, `told ${id}`]),
  )
})
