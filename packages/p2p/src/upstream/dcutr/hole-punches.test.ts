import { autoNATv2 } from '@libp2p/autonat-v2'
import { dcutr } from '@libp2p/dcutr'
import type { Connection, Stream } from '@libp2p/interface'
import { defaultLogger } from '@libp2p/logger'
import { peerIdFromString } from '@libp2p/peer-id'
import { streamPair } from '@libp2p/utils'
import { type Multiaddr, multiaddr } from '@multiformats/multiaddr'
import { expect, test } from 'vitest'
import { readFrames, writeFrame } from '../../libp2p/frames.ts'
import { MAX_PEER_ADDRESSES } from '../../limits.ts'
import { boundDialBacks } from '../autonat/dial-backs.ts'
import { boundHolePunches } from './hole-punches.ts'

const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const OTHER = '12D3KooWRBhwfeP2Y4TCx1SM6s9rUoHhR5STiGwxBhgFRcw3UERE'
const DIRECT = `/ip4/8.8.4.4/tcp/4001/p2p/${PEER}`
const RELAYED = `/ip4/8.8.4.4/tcp/4001/p2p/${OTHER}/p2p-circuit/p2p/${PEER}`

type Handler = (stream: Stream, connection: Connection) => Promise<void>

/** The parts of a host that a service asks; tells what it handles and what it dials. */
function createParts() {
  const dialled: string[] = []
  const handlers = new Map<string, Handler>()
  const note = (addresses: Multiaddr | readonly Multiaddr[]) => {
    for (const address of Array.isArray(addresses) ? addresses : [addresses]) dialled.push(String(address))
    throw new Error('nobody is there')
  }
  const parts = {
    logger: defaultLogger(),
    peerStore: {},
    randomWalk: {},
    addressManager: { getAddresses: () => [multiaddr('/ip4/9.9.9.9/tcp/1')] },
    registrar: {
      register: async () => 'topology',
      handle: async (protocol: string, handler: Handler) => void handlers.set(protocol, handler),
    },
    transportManager: { dialTransportForMultiaddr: () => ({}) },
    connectionManager: {
      openConnection: async (addresses: Multiaddr[]) => note(addresses),
      isDialable: async () => true,
    },
  }
  return { parts, dialled, handlers }
}

interface Asked {
  readonly remoteAddr: string
  readonly isAllowed?: boolean
  readonly isBounded?: boolean
}

const dialFor = <T>(_peer: string, dial: () => Promise<T>) => dial()

/** Asks a service as its peer does; gives what was dialled then. */
async function ask(
  { remoteAddr, isAllowed = true, isBounded = true }: Asked,
  build: (parts: never) => unknown,
  [bound, protocol, messages]: readonly [typeof boundDialBacks, string, readonly Uint8Array[]],
): Promise<readonly string[]> {
  const { parts, dialled, handlers } = createParts()
  const service = build(parts as never) as { start(): Promise<void> }
  if (isBounded) bound(service, { isAllowed: () => isAllowed, dialFor })
  await service.start()
  const [near, far] = await streamPair()
  const connection = { remotePeer: peerIdFromString(PEER), remoteAddr: multiaddr(remoteAddr) }
  const handled = handlers
    .get(protocol)?.(far, connection as unknown as Connection)
    .catch(() => {})
  const answers = readFrames(near, 10_000)
  for (const message of messages) {
    await writeFrame(near, message).catch(() => {})
    if (message !== messages.at(-1)) await answers.next().catch(() => {})
  }
  await handled
  near.abort(new Error('the test has ended'))
  return dialled
}

const field = (number: number, bytes: Uint8Array) =>
  Uint8Array.of((number << 3) | 2, (bytes.length & 0x7f) | 0x80, bytes.length >> 7, ...bytes)
const concat = (parts: readonly Uint8Array[]) => new Uint8Array(Buffer.concat(parts))

/** Addresses first, then the word to dial them now. */
const punch = (addresses: readonly string[]) =>
  [
    boundHolePunches,
    '/libp2p/dcutr',
    [
      concat([Uint8Array.of(8, 100), ...addresses.map((each) => field(2, multiaddr(each).bytes))]),
      Uint8Array.of(8, 0xac, 2),
    ],
  ] as const
const askPunch = (asked: Asked, addresses: readonly string[]) => ask(asked, dcutr(), punch(addresses))

const publicAddresses = Array.from({ length: 40 }, (_, at) => `/ip4/8.8.8.${at}/tcp/4001`)

test('for hole punching who a relay joins is dialled, at addresses of its own, and not many', async () => {
  const asked = ['/dns4/localhost/tcp/1', `/ip4/8.8.8.8/tcp/1/p2p/${OTHER}`, ...publicAddresses]
  const expected = publicAddresses.slice(0, MAX_PEER_ADDRESSES).map((each) => `${each}/p2p/${PEER}`)
  expect(await askPunch({ remoteAddr: RELAYED }, asked)).toEqual(expected)
})

test.each([
  [{ remoteAddr: DIRECT }, publicAddresses],
  [{ remoteAddr: RELAYED, isAllowed: false }, publicAddresses],
  [{ remoteAddr: RELAYED }, ['/dns4/localhost/tcp/1']],
])('nobody is dialled for %j', async (asked, addresses) => {
  expect(await askPunch(asked, addresses)).toEqual([])
})

test('the library by itself dials whatever anybody names', async () => {
  const addresses = ['/dns4/localhost/tcp/1', `/ip4/8.8.8.8/tcp/1/p2p/${OTHER}`]
  expect(await askPunch({ remoteAddr: DIRECT, isBounded: false }, addresses)).toEqual(addresses)
})

/** A question of AutoNAT by a peer at 8.8.4.4. */
const askDialBack = (asked: Asked, addresses: readonly string[]) => {
  const request = concat([
    ...addresses.map((each) => field(1, multiaddr(each).bytes)),
    Uint8Array.of((2 << 3) | 1, 1, 2, 3, 4, 5, 6, 7, 8),
  ])
  const question = [boundDialBacks, '/libp2p/autonat/2/dial-request', [field(1, request)]] as const
  return ask(asked, autoNATv2(), question)
}

const ownAddresses = Array.from({ length: 40 }, (_, at) => `/ip4/8.8.4.4/tcp/${4000 + at}`)

test('for AutoNAT who asks is dialled, at not many addresses', async () => {
  const asked = [`/ip4/8.8.4.4/tcp/1/p2p/${OTHER}`, ...ownAddresses]
  const expected = ownAddresses.slice(0, MAX_PEER_ADDRESSES).map((each) => `${each}/p2p/${PEER}`)
  expect(await askDialBack({ remoteAddr: DIRECT }, asked)).toEqual(expected)
  expect(await askDialBack({ remoteAddr: DIRECT, isAllowed: false }, asked)).toEqual([])
})

test('the library by itself dials all of them', async () => {
  expect(await askDialBack({ remoteAddr: DIRECT, isBounded: false }, ownAddresses)).toEqual(ownAddresses)
})
