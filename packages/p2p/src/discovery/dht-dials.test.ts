import { type AddressInfo, createServer } from 'node:net'
import { identify } from '@libp2p/identify'
import type { Stream } from '@libp2p/interface'
import { ping } from '@libp2p/ping'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, onTestFinished, test } from 'vitest'
import { answerOfNobody, CLOSER_PEERS, joinPrivateDht } from '../../test/private-dht.ts'
import { startRawHost } from '../../test/raw-peer.ts'
import { FREE_HOST_FAILURES, MAX_DIALS_OF_UNKNOWN_HOST } from '../reach/limits.ts'
import { PRIVATE_DHT_PROTOCOL } from '../protocols.ts'
import { dhtComponents } from './dht-components.ts'

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

test('peers that answers of a DHT invent at one host have a node dial it a few times', async () => {
  const third = await startThirdParty()
  let answers = 0
  const liar = await startRawHost({ services: { identify: identify(), ping: ping() } })
  await liar.handle(PRIVATE_DHT_PROTOCOL, (stream: Stream) => {
    stream.addEventListener('message', () => {
      answers++
      stream.send(answerOfNobody(CLOSER_PEERS, 20, third.address.bytes))
    })
  })
  const dht = await joinPrivateDht([liar])
  for (let name = 0; name < 4; name++) {
    for await (const _ of dht.findProviders(`name ${name}`, AbortSignal.timeout(10_000)));
  }
  expect(answers).toBeGreaterThanOrEqual(4)
  expect(third.connections()).toBeGreaterThan(0)
  expect(third.connections()).toBeLessThanOrEqual(FREE_HOST_FAILURES + MAX_DIALS_OF_UNKNOWN_HOST)
})

test('looks at peers, dials and pings of a DHT each wait for their turn', async () => {
  const done: string[] = []
  const note = (what: string) => async () => void done.push(what)
  const { connectionManager, ping } = dhtComponents(
    {
      connectionManager: { isDialable: note('look'), openStream: note('stream') },
      ping: { ping: note('ping') },
      registrar: {},
      datastore: {},
    } as never,
    { connect: note('connect'), budget: { turn: note('turn') }, maxRecords: 1 },
  ) as {
    readonly connectionManager: { isDialable(): Promise<void>; openStream(): Promise<void> }
    readonly ping: { ping(): Promise<void> }
  }
  await connectionManager.isDialable()
  await connectionManager.openStream()
  await ping.ping()
  expect(done).toEqual(['turn', 'look', 'turn', 'connect', 'stream', 'turn', 'connect', 'ping'])
})
