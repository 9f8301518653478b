/** What somebody who only reaches the port can do: real sockets against a door, an acceptor and their bounds. */
import { once } from 'node:events'
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from 'node:net'
import { connect, type TLSSocket } from 'node:tls'
import { type PeerId, parsePeerId, systemClock, systemRandom } from '@mesh/core'
import { Scope } from '@mesh/core/limits'
import { eventually } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createRefusals, type Refusals } from '../refusals.ts'
import type { Offer } from './bulk-message.ts'
import { dialTls } from './dial-tls.ts'
import { Identities, identityText } from './identities.ts'
import { HANDSHAKES } from './limits.ts'
import { createTlsAcceptor, type TlsAcceptor } from './tls-acceptor.ts'
import { createTlsDoor } from './tls-door.ts'
import { createTlsSettings } from './tls-settings.ts'

const PEER = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const settings = createTlsSettings()
/** What a handshake that the other side ends may say. */
const FAILED = /TLS|SSL|closed|ECONNRESET|EPIPE/
let identities: Identities
let refusals: Refusals
let acceptor: TlsAcceptor
let server: Server
let port: number
/** Whether one more connection is taken. */
let hasRoom: boolean
/** Sockets that libp2p would get. */
let passed: Socket[]
let accepted: [PeerId, TLSSocket][]
let opened: Socket[]

beforeEach(async () => {
  ;[passed, accepted, opened] = [[], [], []]
  hasRoom = true
  identities = new Identities({ random: systemRandom })
  refusals = createRefusals({ clock: systemClock, emit: () => {} })
  acceptor = createTlsAcceptor({
    identities,
    settings,
    refusals,
    reserve: () => (hasRoom ? new Scope({ all: 1 }).reserve({}) : undefined),
  })
  const door = createTlsDoor()
  door.open({
    isKnown: (identity) => identities.get(identity) !== undefined,
    take: (socket, identity) => acceptor.take(socket, identity),
    clock: systemClock,
  })
  server = createServer((socket) => {
    socket.on('error', () => {})
    void door.see(socket).then((isTaken) => {
      if (isTaken) return
      passed.push(socket)
      socket.destroy()
    })
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  port = (server.address() as AddressInfo).port
})

afterEach(async () => {
  acceptor.stop()
  for (const socket of opened) socket.destroy()
  for (const [, socket] of accepted) socket.destroy()
  server.close()
  await once(server, 'close')
})

const give = (peer = PEER) =>
  identities.give(peer, (socket) => {
    accepted.push([peer, socket])
    socket.write('welcome')
  })

/** A socket that ends by itself or is ended after the test. */
function track<S extends Socket>(socket: S): S {
  opened.push(socket)
  socket.on('error', () => {})
  return socket
}

const closed = (socket: Socket) => new Promise<void>((resolve) => socket.once('close', () => resolve()))

async function dial(offer: Pick<Offer, 'identity' | 'key'>): Promise<TLSSocket> {
  return track(await dialTls({ host: '127.0.0.1', port, offer, settings, clock: systemClock }))
}

test('who holds the key comes in as the peer that it was given to', async () => {
  const socket = await dial(give())
  expect(String((await once(socket, 'data'))[0])).toBe('welcome')
  expect(accepted.map(([peer]) => peer)).toEqual([PEER])
})

test('who names no identity, or one that nobody has, is left to libp2p', async () => {
  const unknown = { identity: systemRandom.bytes(16), key: systemRandom.bytes(32) }
  await expect(dial(unknown)).rejects.toThrow(FAILED)
  const plain = track(connect({ host: '127.0.0.1', port, rejectUnauthorized: false }))
  await closed(plain)
  const garbage = track(connectTcp(port, '127.0.0.1'))
  garbage.write('GET / HTTP/1.1\r\n\r\n')
  await closed(garbage)
  expect(passed).toHaveLength(3)
  expect([accepted, refusals.counts()]).toEqual([[], {}])
})

test("a wrong key, another one's key, and an identity that has ended do not come in", async () => {
  const [one, other] = [give(), give()]
  await expect(dial({ identity: one.identity, key: systemRandom.bytes(32) })).rejects.toThrow(FAILED)
  await expect(dial({ identity: one.identity, key: other.key })).rejects.toThrow(FAILED)
  await eventually(() => expect(refusals.counts()).toEqual({ 'bulk.bad_handshake': 2 }))
  one.end()
  await expect(dial(one)).rejects.toThrow(FAILED)
  expect(accepted).toEqual([])
})

test('where there is no room a connection ends before its handshake, so that its opener takes another way', async () => {
  const offer = give()
  await dial(offer)
  hasRoom = false
  await expect(dial(offer)).rejects.toThrow(FAILED)
  await eventually(() => expect(refusals.counts()).toEqual({ 'bulk.too_many': 1 }))
  expect(accepted).toHaveLength(1)
})

test('a server without the key is not taken for the peer', async () => {
  const { createServer: createTlsServer } = await import('node:tls')
  const impostor = createTlsServer({ ...settings, pskCallback: () => systemRandom.bytes(32) })
  impostor.listen(0, '127.0.0.1')
  await once(impostor, 'listening')
  const address = impostor.address() as AddressInfo
  const offer = { identity: systemRandom.bytes(16), key: systemRandom.bytes(32) }
  const dialling = dialTls({ host: '127.0.0.1', port: address.port, offer, settings, clock: systemClock })
  await expect(dialling).rejects.toThrow(FAILED)
  impostor.close()
})

/** The ClientHello of somebody who holds the key, as one on the path sees it. */
async function overhear(offer: Pick<Offer, 'identity' | 'key'>): Promise<Buffer> {
  const tap = createServer().listen(0, '127.0.0.1')
  await once(tap, 'listening')
  const address = tap.address() as AddressInfo
  const client = connect({
    host: '127.0.0.1',
    port: address.port,
    ...settings,
    pskCallback: () => ({ psk: offer.key, identity: identityText(offer.identity) }),
    checkServerIdentity: () => undefined,
  })
  track(client)
  const [socket] = (await once(tap, 'connection')) as [Socket]
  const [hello] = (await once(track(socket), 'data')) as [Buffer]
  client.destroy()
  tap.close()
  return hello
}

test('a replayed handshake gets no further than its first answer, and at most some of a peer at a time', async () => {
  const hello = await overhear(give())
  const replayed = Array.from({ length: HANDSHAKES.perPeer + 20 }, () => {
    const socket = track(connectTcp(port, '127.0.0.1'))
    socket.write(hello)
    return socket
  })
  await eventually(() => expect(refusals.counts()['bulk.too_many']).toBe(20))
  expect(accepted).toEqual([])
  for (const socket of replayed) socket.destroy()
  // their places are free again
  await eventually(async () => void (await dial(give())), { withinMs: 2_000 })
})

test('a handshake that is not finished ends in time', async () => {
  const hello = await overhear(give())
  const socket = track(connectTcp(port, '127.0.0.1'))
  socket.write(hello)
  socket.resume()
  await closed(socket)
  expect(refusals.counts()).toEqual({ 'bulk.bad_handshake': 1 })
}, 10_000)
