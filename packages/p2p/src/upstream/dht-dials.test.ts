import { randomBytes } from 'node:crypto'
import { type AddressInfo, createServer } from 'node:net'
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
import type { RendezvousDht } from '../discovery/rendezvous.ts'
import { createP2pMember } from '../host/p2p-member.ts'
import type { Platform } from '../host/platform.ts'
import { FREE_HOST_FAILURES, MAX_DIALS_OF_UNKNOWN_HOST } from '../limits.ts'
import { PRIVATE_DHT_PROTOCOL } from '../protocols.ts'
import { dialWithinBounds } from './dht-dials.ts'

/** A third party, which closes each connection. */
async function startThirdParty() {
  let connections = 0
  const server = createServer((socket) => {
    connections++
    socket.destroy()
  })
  await new Promise<void>((resolve) => server.listen(0, '127.77.0.9', resolve))
  onTestFinished(() => void server.close())
  const { port } = server.address() as AddressInfo
  return { address: multiaddr(`/ip4/127.77.0.9/tcp/${port}`), connections: () => connections }
}

const field = (number: number, bytes: Uint8Array) =>
  Buffer.concat([Uint8Array.of((number << 3) | 2, bytes.length), bytes])

/** An answer to any question of the DHT: twenty peers that there are not, all at one address. */
function answerWith(home: Uint8Array): Uint8Array {
  const closer = Array.from({ length: 20 }, () => {
    const id = Buffer.concat([Uint8Array.of(0, 36, 8, 1, 18, 32), randomBytes(32)])
    return field(8, Buffer.concat([field(1, id), field(2, home)]))
  })
  const message = Buffer.concat([Uint8Array.of(8, 3), ...closer])
  return Buffer.concat([Uint8Array.of((message.length & 0x7f) | 0x80, message.length >> 7), message])
}

test('peers that answers of a DHT invent at one host have a node dial it a few times', async () => {
  const third = await startThirdParty()
  let answers = 0
  const liar = await startRawHost({ services: { identify: identify(), ping: ping() } })
  await liar.handle(PRIVATE_DHT_PROTOCOL, (stream: Stream) => {
    stream.addEventListener('message', () => {
      answers++
      stream.send(answerWith(third.address.bytes))
    })
  })
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
      bootstrapPeers: liar.getMultiaddrs().map(String),
    },
    platform,
    { clock: systemClock, random: systemRandom, logger: silentLogger },
  )
  onTestFinished(() => node.stop())
  await eventually(async () => expect(await dht?.join(AbortSignal.timeout(500))).toBe(1), {
    withinMs: 10_000,
  })
  for (let name = 0; name < 4; name++) {
    const found = dht?.findProviders(`name ${name}`, AbortSignal.timeout(10_000))
    if (found !== undefined) for await (const _ of found);
  }
  expect(answers).toBeGreaterThanOrEqual(4)
  expect(third.connections()).toBeGreaterThan(0)
  expect(third.connections()).toBeLessThanOrEqual(FREE_HOST_FAILURES + MAX_DIALS_OF_UNKNOWN_HOST)
})

test('looks at peers, dials and pings of a DHT each wait for their turn', async () => {
  const done: string[] = []
  const note = (what: string) => async () => void done.push(what)
  const { connectionManager, ping } = dialWithinBounds(
    {
      connectionManager: { isDialable: note('look'), openStream: note('stream') },
      ping: { ping: note('ping') },
    } as never,
    note('connect'),
    { turn: note('turn') },
  ) as {
    readonly connectionManager: { isDialable(): Promise<void>; openStream(): Promise<void> }
    readonly ping: { ping(): Promise<void> }
  }
  await connectionManager.isDialable()
  await connectionManager.openStream()
  await ping.ping()
  expect(done).toEqual(['turn', 'look', 'turn', 'connect', 'stream', 'turn', 'connect', 'ping'])
})
