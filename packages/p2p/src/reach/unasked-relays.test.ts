import type { Connection } from '@libp2p/interface'
import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import {
  ASKED_FOR_MS,
  MAX_UNASKED_RELAYED,
  UNASKED_PACE_MIN_MS,
  UNASKED_REST_MIN_MS,
  UNASKED_TRY_MS,
} from '../limits.ts'
import { createUnaskedRelays } from './unasked-relays.ts'

interface FakeConnection {
  readonly peer: string
  readonly direct: boolean
  readonly streams: { readonly protocol: string }[]
}

function build() {
  const clock = createManualClock()
  const host = new EventTarget()
  const open = new Set<FakeConnection>()
  const closed: string[] = []
  let free = 0
  const asConnection = (fake: FakeConnection) =>
    ({
      direct: fake.direct,
      status: 'open',
      streams: fake.streams,
      remotePeer: { toString: () => fake.peer },
      close: async () => {
        closed.push(fake.peer)
        disconnect(fake)
      },
    }) as unknown as Connection
  const tell = (type: string, fake: FakeConnection) =>
    host.dispatchEvent(new CustomEvent(type, { detail: asConnection(fake) }))
  const connect = (peer: string, options: { direct?: boolean; protocol?: string } = {}): FakeConnection => {
    const { direct = false, protocol } = options
    const fake = { peer, direct, streams: protocol === undefined ? [] : [{ protocol }] }
    open.add(fake)
    tell('connection:open', fake)
    relays.dialled(peer)
    return fake
  }
  function disconnect(fake: FakeConnection): void {
    open.delete(fake)
    tell('connection:close', fake)
  }
  const relays = createUnaskedRelays(
    {
      host: Object.assign(host, { getConnections: () => [...open].map(asConnection) }) as never,
      onFree: () => free++,
    },
    { clock, logger: silentLogger },
  )
  return { clock, relays, connect, disconnect, closed, freed: () => free }
}

test('one is tried at a time; each that becomes direct doubles that, up to the bound', () => {
  const { relays, connect } = build()
  const takeAll = () => {
    const taken: string[] = []
    for (let peer = 0; peer < 20; peer++) {
      if (relays.take(`new${peer}`)) taken.push(`new${peer}`)
    }
    for (const peer of taken) relays.dialled(peer)
    return taken.length
  }
  const widths = [takeAll()]
  for (let round = 0; round < 4; round++) {
    relays.take(`p${round}`)
    connect(`p${round}`)
    connect(`p${round}`, { direct: true })
    widths.push(takeAll())
  }
  expect(widths).toEqual([1, 2, 4, 4, 4])
  expect(MAX_UNASKED_RELAYED).toBe(4)
})

test('in a star, where none becomes direct, few are tried and few stay', async () => {
  const { clock, relays, connect, closed } = build()
  const peers = Array.from({ length: 18 }, (_, at) => `leaf${at}`)
  const triedAt: number[] = []
  const connected = new Set<string>()
  const since = clock.now()
  for (let second = 0; second < 3_600; second++) {
    for (const peer of peers) {
      if (connected.has(peer) || !relays.take(peer)) continue
      triedAt.push(clock.now() - since)
      connect(peer)
      connected.add(peer)
    }
    await clock.advance(1_000)
    // an upgrade gives up after ten seconds
    for (const peer of connected) if (second % 10 === 9) relays.upgradeFailed(peer)
    for (const peer of closed) connected.delete(peer)
    expect(connected.size).toBeLessThanOrEqual(MAX_UNASKED_RELAYED)
  }
  expect(triedAt.filter((at) => at < 60_000).length).toBeLessThanOrEqual(4)
  expect(triedAt.filter((at) => at < 600_000).length).toBeLessThanOrEqual(9)
  expect(triedAt.length).toBeGreaterThanOrEqual(10)
  expect(triedAt.length).toBeLessThanOrEqual(15)
})

test('after one that did not become direct the next waits, and its peer rests longer', async () => {
  const { clock, relays, connect, disconnect, freed } = build()
  expect(relays.take('a')).toBe(true)
  const a = connect('a')
  relays.upgradeFailed('a')
  disconnect(a)
  expect(relays.take('b')).toBe(false)
  const before = freed()
  await clock.advance(UNASKED_PACE_MIN_MS)
  expect(freed()).toBeGreaterThan(before)
  expect(relays.take('a')).toBe(false)
  expect(relays.take('b')).toBe(true)
  relays.dialled('b')
  await clock.advance(UNASKED_REST_MIN_MS)
  expect(relays.take('a')).toBe(true)
})

test('one that nothing upgrades counts as failed in time', async () => {
  const { clock, relays, connect } = build()
  relays.take('a')
  connect('a')
  expect(relays.take('b')).toBe(false)
  await clock.advance(UNASKED_TRY_MS + UNASKED_PACE_MIN_MS)
  expect(relays.take('b')).toBe(true)
})

test("another's room is taken only where nobody uses the connection or asked for it", async () => {
  const { clock, relays, connect, closed } = build()
  for (const peer of ['asked', 'used', 'a', 'b', 'c', 'd']) {
    if (peer === 'asked') relays.asked(peer)
    connect(peer, peer === 'used' ? { protocol: '/mesh/vpn/1' } : {})
    await clock.advance(1_000)
  }
  for (const peer of ['asked', 'used', 'a', 'b', 'c', 'd']) relays.upgradeFailed(peer)
  // more came in than there is room for: one goes at once
  expect(closed).toEqual(['a'])
  await clock.advance(UNASKED_PACE_MIN_MS)
  expect(relays.take('e')).toBe(true)
  expect(closed).toEqual(['a', 'b'])
  relays.dialled('e')
  // what was asked for and is not used counts again one day
  await clock.advance(ASKED_FOR_MS)
  expect(relays.isAsked('asked')).toBe(false)
})

test('stopping leaves no timer', async () => {
  const { clock, relays, connect } = build()
  relays.take('a')
  connect('a')
  relays.upgradeFailed('a')
  connect('b')
  relays.stop()
  await clock.advance(1)
  expect(clock.pending).toBe(0)
})
