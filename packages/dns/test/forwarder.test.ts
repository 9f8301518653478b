/** Passing questions on, to servers that the test plays, in its own time. */
import { type IpAddress, silentLogger } from '@mesh/core'
import { createManualClock, createSeededRandom } from '@mesh/testkit'
import * as dnsPacket from 'dns-packet'
import { expect, test } from 'vitest'
import type { Exchange } from '../src/forwarder/exchange.ts'
import { Forwarder, type Forwarded, type ForwardQuestion } from '../src/forwarder/forwarder.ts'
import { MAX_FORWARDS_PER_CLIENT } from '../src/limits.ts'
import { encodeQuery } from './names-world.ts'

type Play = (asked: {
  readonly server: string
  readonly packet: Buffer
  readonly tcp: boolean
}) => Buffer | Error | undefined

function setUp(play: Play, cacheEntries = 10) {
  const clock = createManualClock()
  const asked: string[] = []
  const exchange =
    (tcp: boolean): Exchange =>
    ({ server, packet, withinMs, accept }) =>
      new Promise((resolve, reject) => {
        asked.push(`${tcp ? 'tcp' : 'udp'} ${server.address}`)
        const reply = play({ server: server.address, packet, tcp })
        if (reply instanceof Error) reject(reply)
        else if (reply !== undefined && accept(reply)) resolve()
        else clock.after(withinMs, () => reject(new Error('no answer in time')))
      })
  const servers = ['192.0.2.1', '192.0.2.2'].map((address) => ({
    address: address as IpAddress,
    port: 53,
    domain: '.',
  }))
  const forwarder = new Forwarder(
    { servers, cacheEntries },
    {
      clock,
      random: createSeededRandom(3),
      log: silentLogger,
      overUdp: exchange(false),
      overTcp: exchange(true),
    },
  )
  const ask = (name: string, client?: string) =>
    new Promise<Forwarded>((resolve, reject) => {
      if (!forwarder.ask(questionOf(name), client, resolve)) reject(new Error('too much'))
    })
  return { clock, asked, forwarder, ask }
}

function questionOf(name: string): ForwardQuestion {
  const key = encodeQuery(name, 'A').subarray(12).toString('latin1')
  return { key, domain: '.', dnssecOk: false, checkingDisabled: false }
}

interface Answering {
  readonly rcode?: number
  readonly ttl?: number
  readonly truncated?: boolean
  readonly soa?: { readonly ttl: number; readonly minimum: number }
}

function replyTo(packet: Buffer, { rcode = 0, ttl = 60, truncated = false, soa }: Answering = {}): Buffer {
  const { id, questions = [] } = dnsPacket.decode(packet)
  const [question] = questions
  const name = question?.name ?? ''
  const data = {
    mname: 'ns.x',
    rname: 'h.x',
    serial: 1,
    refresh: 1,
    retry: 1,
    expire: 1,
    minimum: soa?.minimum ?? 0,
  }
  return dnsPacket.encode({
    type: 'response',
    id: id ?? 0,
    flags: rcode | (truncated ? 0x200 : 0),
    questions,
    answers: rcode === 0 && soa === undefined ? [{ name, type: 'A', ttl, data: '192.0.2.80' }] : [],
    authorities: soa === undefined ? [] : [{ name: 'x', type: 'SOA', ttl: soa.ttl, data }],
  })
}

test('an answer is kept as long as its TTL says, which counts down', async () => {
  const { ask, forwarder, asked, clock } = setUp(({ packet }) => replyTo(packet, { ttl: 60 }))
  expect((await ask('a.example')).answer.rcode).toBe(0)
  await clock.advance(59_000)
  expect(forwarder.cached(questionOf('a.example'))?.ageS).toBe(59)
  await clock.advance(1_000)
  expect(forwarder.cached(questionOf('a.example'))).toBeUndefined()
  expect(asked).toHaveLength(1)
})

test('that a name does not exist is kept as long as its zone says', async () => {
  for (const soa of [
    { ttl: 100, minimum: 20 },
    { ttl: 20, minimum: 100 },
  ]) {
    const { ask, forwarder, clock } = setUp(({ packet }) => replyTo(packet, { rcode: 3, soa }))
    expect((await ask('a.example')).answer.rcode).toBe(3)
    await clock.advance(19_000)
    expect(forwarder.cached(questionOf('a.example'))?.answer.rcode).toBe(3)
    await clock.advance(1_000)
    expect(forwarder.cached(questionOf('a.example'))).toBeUndefined()
  }
})

test('who asks the same at the same time waits for one answer', async () => {
  const { ask, asked, clock } = setUp(({ packet }) => replyTo(packet))
  const answers = Promise.all(Array.from({ length: 50 }, () => ask('a.example')))
  await clock.advance(0)
  expect((await answers).every(({ answer }) => answer.rcode === 0)).toBe(true)
  expect(asked).toHaveLength(1)
})

test('a server that does not answer is asked last from then on, until it had time to come back', async () => {
  let isDown = true
  const { ask, asked, clock, forwarder } = setUp(({ server, packet }) =>
    isDown && server === '192.0.2.1' ? undefined : replyTo(packet),
  )
  const first = ask('a.example')
  await clock.advance(1_500)
  expect((await first).answer.rcode).toBe(0)
  await ask('b.example')
  expect(asked).toEqual(['udp 192.0.2.1', 'udp 192.0.2.2', 'udp 192.0.2.2'])
  expect(forwarder.status().servers.map(({ failing }) => failing?.reason)).toEqual([
    'no answer in time',
    undefined,
  ])
  isDown = false
  await clock.advance(30_000)
  await ask('c.example')
  expect(asked.at(-1)).toBe('udp 192.0.2.1')
})

test('a refusal is passed on when nobody knows better', async () => {
  const { ask, asked } = setUp(({ server, packet }) =>
    replyTo(packet, { rcode: server === '192.0.2.1' ? 5 : 2 }),
  )
  expect((await ask('a.example')).answer.rcode).toBe(5)
  expect(asked.slice(0, 2)).toEqual(['udp 192.0.2.1', 'udp 192.0.2.2'])
})

test('an answer that was cut off is fetched over TCP', async () => {
  const { ask, asked } = setUp(({ packet, tcp }) => replyTo(packet, { truncated: !tcp }))
  expect((await ask('a.example')).answer.counts[0]).toBe(1)
  expect(asked).toEqual(['udp 192.0.2.1', 'tcp 192.0.2.1'])
})

test.each([1, 4])('a server that answers code %d to EDNS is asked without it', async (rcode) => {
  const { ask, asked } = setUp(({ packet }) => {
    const { additionals = [] } = dnsPacket.decode(packet)
    // such servers do not always repeat what they were asked
    return additionals.length > 0 ? replyTo(packet, { rcode }).subarray(0, 12).fill(0, 4) : replyTo(packet)
  })
  const { answer } = await ask('a.example')
  expect([answer.rcode, answer.counts[0]]).toEqual([0, 1])
  expect(asked).toEqual(['udp 192.0.2.1', 'udp 192.0.2.1'])
})

test('an answer of somebody else counts for nothing', async () => {
  const { ask, clock } = setUp(({ packet }) => {
    const forged = replyTo(packet)
    forged.writeUInt16BE(forged.readUInt16BE(0) ^ 1, 0)
    return forged
  })
  const answer = ask('a.example')
  await clock.advance(5_000)
  expect((await answer).answer.rcode).toBe(2)
})

test('a failure is remembered for two seconds, no longer', async () => {
  const { ask, forwarder, clock } = setUp(() => new Error('unreachable'))
  expect((await ask('a.example')).answer.rcode).toBe(2)
  expect(forwarder.cached(questionOf('a.example'))?.answer.rcode).toBe(2)
  await clock.advance(2_000)
  expect(forwarder.cached(questionOf('a.example'))).toBeUndefined()
})

test('questions carry a random case, and no two the same id for long', async () => {
  const packets: Buffer[] = []
  const { ask } = setUp(({ packet }) => {
    packets.push(packet)
    return replyTo(packet)
  })
  for (let at = 0; at < 50; at++) await ask(`some-long-name-${at}.example`)
  expect(new Set(packets.map((packet) => packet.readUInt16BE(0))).size).toBeGreaterThan(45)
  expect(packets.every((packet) => /[A-Z]/.test(packet.toString('latin1')))).toBe(true)
})

test('the cache and what is under way are bounded', async () => {
  const { ask, forwarder, clock } = setUp(
    ({ packet }) => (packet.includes('x') || packet.includes('X') ? undefined : replyTo(packet)),
    5,
  )
  for (let at = 0; at < 20; at++) await ask(`a${at}.org`)
  expect(forwarder.status().cached).toBe(5)
  const waiting = Array.from({ length: MAX_FORWARDS_PER_CLIENT }, (_, at) => ask(`x${at}.org`, '198.51.100'))
  await expect(ask('x.org', '198.51.100')).rejects.toThrow('too much')
  expect((await ask('b.org', '203.0.113')).answer.rcode).toBe(0)
  await clock.advance(5_000)
  expect((await Promise.all(waiting)).every(({ answer }) => answer.rcode === 2)).toBe(true)
  expect((await ask('b2.org', '198.51.100')).answer.rcode).toBe(0)
})

test('without a cache every question is asked', async () => {
  const { ask, asked } = setUp(({ packet }) => replyTo(packet), 0)
  await ask('a.example')
  await ask('a.example')
  expect(asked).toHaveLength(2)
})
