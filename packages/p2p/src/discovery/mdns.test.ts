import { silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import { multiaddr } from '@multiformats/multiaddr'
import { decode, encode } from 'dns-packet'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { MDNS_FINDS } from './limits.ts'
import { buildAnswer, buildQuery, readPacket } from './mdns-records.ts'
import { Mdns, type MulticastLink } from './mdns.ts'

const SERVICE = 'aBcDeFgHiJkLmNoPqRsTuVwXyZ0123456789aBcDeFg'
const PEER = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
const ADDRESS = `/ip4/192.0.2.1/tcp/4001/p2p/${PEER}`
const HOST = { family: 4, address: '192.0.2.1' } as const
const answer = (ttl?: number) =>
  buildAnswer({
    service: SERVICE,
    instance: 'i',
    addresses: [ADDRESS],
    host: HOST,
    ...(ttl === undefined ? {} : { ttl }),
  })

test('an answer holds what legacy readers want: PTR, SRV, one TXT and an address of the target', () => {
  const { answers, additionals } = decode(Buffer.from(answer()))
  expect(answers).toEqual([
    expect.objectContaining({ type: 'PTR', name: `${SERVICE}.local`, data: `i.${SERVICE}.local` }),
  ])
  expect(additionals?.map(({ type }) => type)).toEqual(['SRV', 'TXT', 'A'])
  const [srv, txt, a] = additionals ?? []
  expect(srv).toMatchObject({ data: { target: 'i.local' } })
  expect(a).toMatchObject({ name: 'i.local', data: '192.0.2.1' })
  expect(txt).toMatchObject({ data: [Buffer.from(`dnsaddr=${ADDRESS}`)] })
})

test('what is answered is read, by its exact name only', () => {
  const read = readPacket(answer(), SERVICE)
  expect(read).toMatchObject({ kind: 'answer', finds: [{ peer: PEER }] })
  expect(readPacket(answer(), SERVICE.toLowerCase())).toEqual({ kind: 'answer', finds: [] })
  expect(readPacket(answer(0), SERVICE)).toEqual({ kind: 'answer', finds: [] })
  expect(readPacket(buildQuery(SERVICE), SERVICE)).toEqual({ kind: 'query' })
  expect(readPacket(buildQuery(SERVICE), SERVICE.toUpperCase())).toBeUndefined()
})

test('leaves out addresses that are no answer to a machine: relays, browsers, too long', () => {
  const bytes = buildAnswer({
    service: SERVICE,
    instance: 'i',
    addresses: [
      `/ip4/192.0.2.1/tcp/1/ws/p2p/${PEER}`,
      `/ip4/192.0.2.1/tcp/1/p2p/${PEER}/p2p-circuit/p2p/${PEER}`,
      ADDRESS,
    ],
    host: HOST,
  })
  const read = readPacket(bytes, SERVICE)
  expect(read?.kind === 'answer' && read.finds.flatMap(({ addresses }) => addresses.map(String))).toEqual([
    ADDRESS,
  ])
})

test('a header that promises more than a packet can hold is dropped unread', () => {
  const bomb = new Uint8Array(12).fill(0xff)
  bomb[2] = 0x84
  const since = performance.now()
  for (let round = 0; round < 1_000; round++) expect(readPacket(bomb, SERVICE)).toBeUndefined()
  expect(performance.now() - since).toBeLessThan(1_000)
})

test('no packet throws', () => {
  fc.assert(
    fc.property(fc.uint8Array({ maxLength: 600 }), (bytes) => {
      expect(() => readPacket(bytes, SERVICE)).not.toThrow()
    }),
  )
  const good = answer()
  fc.assert(
    fc.property(fc.nat(good.length - 1), fc.nat(255), (at, byte) => {
      const bent = Uint8Array.from(good)
      bent[at] = byte
      expect(() => readPacket(bent, SERVICE)).not.toThrow()
    }),
  )
})

function build() {
  const clock = createManualClock()
  const link: MulticastLink = { id: 'eth0/4', ...HOST }
  const sent: Uint8Array[] = []
  const found: string[] = []
  let hear: (packet: Uint8Array, from: string) => void = () => {}
  let closed = false
  const mdns = new Mdns(
    {
      self: 'self',
      service: SERVICE,
      addresses: () => [multiaddr(ADDRESS)],
      found: ({ peer }) => found.push(peer),
    },
    {
      multicast: {
        links: () => [link],
        send: (_link, packet) => sent.push(packet),
        onPacket(listener) {
          hear = listener
        },
        refresh: async () => {},
        async close() {
          closed = true
        },
      },
      clock,
      random: createSeededRandom(7),
      logger: silentLogger,
    },
  )
  mdns.start()
  const count = (kind: 'query' | 'response') =>
    sent.filter((packet) => decode(Buffer.from(packet)).type === kind).length
  return {
    clock,
    found,
    hear: (packet: Uint8Array, from = '192.0.2.1') => hear(packet, from),
    count,
    mdns,
    isClosed: () => closed,
  }
}

test('asks and announces at once, then ever less: about one question a minute', async () => {
  const { clock, count } = build()
  await clock.advance(50)
  expect(count('query')).toBe(1)
  expect(count('response')).toBe(1)
  await clock.advance(3_600_000)
  expect(count('query')).toBeLessThan(70)
  expect(count('query')).toBeGreaterThan(50)
})

test('answers a question, a flood of them once a second', async () => {
  const { clock, count, hear } = build()
  await clock.advance(5_000)
  const before = count('response')
  for (let packet = 0; packet < 500; packet++) hear(buildQuery(SERVICE))
  await clock.advance(500)
  expect(count('response') - before).toBe(1)
})

test('a question of somebody else serves us too', async () => {
  const { clock, count, hear } = build()
  await clock.advance(600_000)
  const before = count('query')
  for (let minute = 0; minute < 60; minute++) {
    hear(buildQuery(SERVICE))
    await clock.advance(30_000)
  }
  expect(count('query') - before).toBe(0)
})

test('asks once where others that start ask every few seconds, and again when they do no more', async () => {
  const { clock, count, hear } = build()
  for (let second = 0; second < 60; second += 3) {
    await clock.advance(3_000)
    hear(buildQuery(SERVICE))
  }
  expect(count('query')).toBe(1)
  await clock.advance(100_000)
  expect(count('query')).toBeGreaterThan(1)
})

test('tells whom it found, and stops without a trace', async () => {
  const { clock, found, hear, mdns, isClosed } = build()
  hear(answer())
  expect(found).toEqual([PEER])
  await mdns.stop()
  hear(answer())
  expect(found).toHaveLength(1)
  expect(isClosed()).toBe(true)
  await clock.advance(1)
  expect(clock.pending).toBe(0)
})

/** An answer that tells of sixteen peers. */
function manyPeers(): Uint8Array {
  const { answers = [], additionals = [] } = decode(Buffer.from(answer()))
  const txts = additionals.filter(({ type }) => type === 'TXT')
  return encode({ type: 'response', answers, additionals: Array.from({ length: 16 }, () => txts).flat() })
}

test('reading packets has a share of the time, whoever sends them', async () => {
  const { clock, found, hear, mdns } = build()
  const { monotonic } = clock
  let tookMs = 0
  clock.monotonic = () => monotonic.call(clock) + tookMs
  const slow = answer()
  const { length } = slow
  // whoever looks how long the packet is needs 10 ms for it
  Object.defineProperty(slow, 'length', {
    get() {
      tookMs += 10
      return length
    },
  })
  for (let packet = 0; packet < 100; packet++) hear(slow, `192.0.2.${packet}`)
  expect(found.length).toBeGreaterThan(0)
  expect(found.length).toBeLessThan(10)
  await mdns.stop()
})

test('one address that answers for thousands of peers keeps nobody else from being found', async () => {
  const { clock, found, hear, mdns } = build()
  const many = manyPeers()
  for (let packet = 0; packet < 300; packet++) hear(many, '192.0.2.66')
  expect(found).toHaveLength(MDNS_FINDS.perAddress.burst)
  hear(answer(), '192.0.2.7')
  expect(found).toHaveLength(MDNS_FINDS.perAddress.burst + 1)
  await clock.advance(1_000)
  for (let packet = 0; packet < 300; packet++) hear(many, '192.0.2.66')
  expect(found).toHaveLength(MDNS_FINDS.perAddress.burst + 1 + MDNS_FINDS.perAddress.perSecond)
  await mdns.stop()
})
