import type { Connection, Stream } from '@libp2p/interface'
import { peerIdFromPublicKey, systemClock, systemRandom } from '@mesh/core'
import { expect, it } from 'vitest'
import { pingPeer } from './ping.ts'

const peer = peerIdFromPublicKey(new Uint8Array(32).fill(7))
const options = { clock: systemClock, random: systemRandom }

/** A connection whose pings are answered at once. */
function answering(): Connection {
  const stream = new EventTarget() as EventTarget & Pick<Stream, 'send' | 'close' | 'abort'>
  stream.send = (data) => {
    queueMicrotask(() => stream.dispatchEvent(Object.assign(new Event('message'), { data })))
    return true
  }
  stream.close = () => Promise.resolve()
  stream.abort = () => {}
  return openWith(() => Promise.resolve(stream as unknown as Stream))
}

function openWith(newStream: () => Promise<Stream>): Connection {
  return { remotePeer: peer, status: 'open', direct: true, newStream } as unknown as Connection
}

const closing = () => openWith(() => Promise.reject(new Error('the connection is closing')))
const hostWith = (...connections: Connection[]) => ({ getConnections: () => connections })

it('pings over another connection when one closes under the ping', async () => {
  expect(await pingPeer(hostWith(closing(), answering()), peer, options)).toBeGreaterThanOrEqual(0)
})

it('says what broke when no connection answers', async () => {
  await expect(pingPeer(hostWith(closing(), closing()), peer, options)).rejects.toMatchObject({
    code: 'p2p.unreachable',
    message: `${peer} does not answer: the connection is closing`,
  })
  await expect(pingPeer(hostWith(), peer, options)).rejects.toMatchObject({
    message: `not connected to ${peer}`,
  })
})
