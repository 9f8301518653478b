import { generateKeyPair } from '@libp2p/crypto/keys'
import type { Connection, Libp2p } from '@libp2p/interface'
import { peerIdFromPrivateKey } from '@libp2p/peer-id'
import { createManualClock } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { MAX_PEER_PROTOCOLS } from './limits.ts'
import { PeerBook } from './peer-book.ts'

const makePeer = async () => peerIdFromPrivateKey(await generateKeyPair('Ed25519'))

async function build({
  peers,
  members = [],
  limit = 1_000,
  tellsLate = false,
}: {
  peers: number
  members?: number[]
  limit?: number
  /** The store tells of a change while it deletes a peer. */
  tellsLate?: boolean
}) {
  const ids = await Promise.all(Array.from({ length: peers }, makePeer))
  const connections: Connection[] = []
  const forgotten: string[] = []
  let asked = 0
  const host = Object.assign(new EventTarget(), {
    peerId: await makePeer(),
    getMultiaddrs: () => [],
    getConnections: () => {
      asked++
      return connections
    },
    peerStore: {
      async delete(peer: { toString(): string }) {
        forgotten.push(peer.toString())
        if (tellsLate) tell(names.indexOf(peer.toString()), [])
      },
    },
  })
  const names = ids.map(String)
  const isMember = (peer: string) => members.includes(names.indexOf(peer))
  const book = new PeerBook({
    host: host as unknown as Libp2p,
    isMember,
    clock: createManualClock(),
    limit,
  })
  const connect = (at: number, address: string) =>
    connections.push({
      remotePeer: ids[at],
      remoteAddr: multiaddr(address),
      direct: !address.includes('p2p-circuit'),
      status: 'open',
    } as unknown as Connection)
  /** A peer says by identify where it is. */
  const tell = (at: number, addresses: readonly string[], protocols: readonly string[] = []) => {
    const peer = {
      id: ids[at],
      addresses: addresses.map((address) => ({ multiaddr: multiaddr(address) })),
      protocols,
    }
    host.dispatchEvent(new CustomEvent('peer:update', { detail: { peer } }))
  }
  return { book, names, connect, tell, forgotten, asked: () => asked }
}

const RELAYED = '/ip4/192.0.2.1/tcp/1/p2p/12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB/p2p-circuit'

test('a direct connection counts before a relayed one, whichever came first', async () => {
  const { book, names, connect } = await build({ peers: 3 })
  for (const name of names) book.noteFound(name, [multiaddr('/ip4/192.0.2.9/tcp/1')])
  connect(0, RELAYED)
  connect(0, '/ip4/192.0.2.2/tcp/1')
  connect(1, RELAYED)
  const [first = '', second = '', third = ''] = names
  expect(book.all().map(({ path, transport }) => [path, transport])).toEqual([
    ['direct', 'tcp'],
    ['relayed', 'tcp'],
    [undefined, undefined],
  ])
  expect(book.all()).toEqual([book.get(first), book.get(second), book.get(third)])
})

test('all peers are told with one look at the connections: a summary must not grow with both', async () => {
  const { book, names, connect, asked } = await build({ peers: 50 })
  names.forEach((name, at) => {
    book.noteFound(name, [])
    connect(at, '/ip4/192.0.2.2/tcp/1')
  })
  const before = asked()
  expect(book.all()).toHaveLength(50)
  expect(asked() - before).toBe(1)
})

test('beyond the limit strangers go before members, and the connected stay', async () => {
  const { book, names, connect, forgotten } = await build({ peers: 4, members: [0], limit: 2 })
  connect(1, '/ip4/192.0.2.2/tcp/1')
  for (const name of names) book.noteFound(name, [])
  expect(book.all().map(({ id }) => id)).toEqual([names[0], names[1]])
  expect(forgotten).toEqual([names[2], names[3]])
})

test('a forgotten peer stays so when its store tells of a last change', async () => {
  const { book, names } = await build({ peers: 1, members: [0], tellsLate: true })
  const [peer = ''] = names
  book.noteFound(peer, [])
  expect(await book.forget(peer)).toBe(true)
  expect(book.get(peer)).toBeUndefined()
})

test('what a peer says of itself leads to loopback where it is on this machine, and to no list of addresses', async () => {
  const { book, names, connect, tell } = await build({ peers: 2 })
  const says = ['/ip4/127.0.0.1/tcp/22', '/ip6/::1/tcp/22', '/dnsaddr/example.org', '/ip4/192.0.2.2/tcp/1']
  connect(0, '/ip4/192.0.2.2/tcp/1')
  connect(1, '/ip4/127.0.0.1/tcp/1')
  tell(0, says)
  tell(1, says)
  const told = names.map((name) => book.addressesOf(name).map(String))
  expect(told).toEqual([['/ip4/192.0.2.2/tcp/1'], says.filter((address) => !address.includes('dnsaddr'))])
})

test('of the protocols that a peer says to speak so many are kept', async () => {
  const { book, names, tell } = await build({ peers: 1 })
  const spoken = Array.from({ length: 1_500 }, (_, at) => `/${at}`)
  tell(0, [], spoken)
  expect(book.protocols(names[0] ?? '')).toEqual(spoken.slice(0, MAX_PEER_PROTOCOLS))
})
