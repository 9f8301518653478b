import { describe, expect, test } from 'vitest'
import { MAX_KNOWN_PEERS } from '../limits.ts'
import {
  CONNECT_RETRY_MS,
  GREATER_ID_WAITS_MS,
  MAX_DEMAND_NEWS,
  MAX_FURTHER_DIALS,
  MAX_FURTHER_VAIN_DIALS,
  MAX_PARALLEL_DIALS,
  MAX_VAIN_DIALS_PER_MINUTE,
  RELAYED_GRACE_MS,
  RELAY_CHECK_DELAY_MS,
  RELAY_REFUSED_MS,
  RELAY_STAGGER_MS,
  SPECULATIVE_SPREAD_MS,
  UPGRADE_GREATER_ID_WAITS_MS,
  UPGRADE_RETRY_MS,
} from './limits.ts'
import { DIRECT, playMachines, RELAYED } from '../../test/played-machines.ts'

const peersOf = (dials: readonly { readonly peer: string }[]) => dials.map(({ peer }) => peer)

test('the smaller id dials at once, the greater one leaves it some time', () => {
  const { dials, found, advance } = playMachines('m')
  found('z')
  found('a')
  advance(10)
  expect(peersOf(dials)).toEqual(['z'])
  advance(GREATER_ID_WAITS_MS)
  expect(peersOf(dials)).toEqual(['z', 'a'])
})

test('a peer that connected meanwhile is not dialled', () => {
  const { dials, found, connect, advance, machines } = playMachines('m')
  found('a')
  connect('a', { outbound: false })
  advance(60_000)
  expect(dials).toEqual([])
  expect(machines.get('a')?.search).toBeUndefined()
})

test('a peer that dialled before this node did is known as incoming, one that answered is not', () => {
  const { found, connect, advance, machines } = playMachines('m')
  connect('a', { outbound: false })
  expect(machines.get('a')?.incoming).toBe(true)
  found('z')
  advance(10)
  connect('z', { outbound: false })
  expect(machines.get('z')?.incoming).toBe(false)
})

test('a forgotten peer is gone, and its search with it', () => {
  const { dials, found, advance, machines } = playMachines('m')
  found('a')
  machines.forget('a')
  advance(60_000)
  expect([dials, machines.all()]).toEqual([[], []])
})

test('configured peers are dialled before newcomers', () => {
  const { dials, found, advance } = playMachines('a')
  for (let peer = 0; peer < 100; peer++) found(`z${peer}`)
  found('boot', [DIRECT], 'configured')
  advance(1_000)
  expect(dials).toHaveLength(101)
  expect(peersOf(dials)[0]).toBe('boot')
})

test('so many peers are dialled at a time and no more, and asked-for ones all the same', () => {
  const { dials, found, take, advance } = playMachines('a', { answer: () => 'hangs' })
  for (let peer = 0; peer < 40; peer++) found(`z${peer}`, [DIRECT], 'member')
  advance(1_000)
  expect(dials).toHaveLength(MAX_PARALLEL_DIALS)
  found('asked')
  take('asked', { type: 'demand' })
  advance(0)
  expect(peersOf(dials).at(-1)).toBe('asked')
})

test('backs off, gives a stranger up, and never a configured peer', () => {
  const { dials, found, advance, machines } = playMachines('a', { answer: () => 'fails' })
  found('stranger')
  found('boot', [DIRECT], 'configured')
  advance(3_600_000)
  const times = (name: string) => dials.filter(({ peer }) => peer === name).map(({ at }) => at)
  const gaps = (name: string) =>
    times(name).flatMap((at, n, all) => (n === 0 ? [] : [at - (all[n - 1] ?? 0)]))
  expect(times('stranger')).toHaveLength(10)
  expect(Math.max(...gaps('stranger'))).toBeGreaterThan(300_000)
  expect(Math.max(...gaps('boot'))).toBeLessThan(60_000)
  expect(times('boot').length).toBeGreaterThan(180)
  expect(machines.get('stranger')?.search).toBeUndefined()
  expect(machines.get('boot')?.search).toBeDefined()
})

test('a configured peer that went is dialled again', () => {
  const { dials, found, disconnect, advance } = playMachines('a')
  found('boot', [DIRECT], 'configured')
  advance(100)
  disconnect('boot', undefined, true)
  advance(20_000)
  expect(dials).toHaveLength(2)
})

test('a member that went is dialled where it was last known to be', () => {
  const { dials, connect, disconnect, advance } = playMachines('a')
  connect('z', { outbound: false })
  disconnect('z', undefined, true)
  advance(100)
  expect(peersOf(dials)).toEqual(['z'])
})

test('the relay comes after the direct addresses, and no sooner when those fail', () => {
  const { dials, found, advance } = playMachines('a', {
    answer: ({ route }) => (route === 'direct' ? 'hangs' : 'fails'),
  })
  found('z', [DIRECT, RELAYED])
  advance(10_000)
  const [direct, relay] = dials
  expect([direct?.route, relay?.route]).toEqual(['direct', 'relay'])
  const waited = (relay?.at ?? 0) - (direct?.at ?? 0)
  expect(waited).toBeGreaterThanOrEqual(RELAY_STAGGER_MS)
  expect(waited).toBeLessThanOrEqual(RELAY_STAGGER_MS + SPECULATIVE_SPREAD_MS)
})

test('a peer that only a relay leads to waits for its share; a new direct address is a reason to look', () => {
  const played = playMachines('A', {
    answer: ({ route, at }) => (route === 'relay' || at > 100_000 ? 'connects' : 'fails'),
  })
  const { dials, found, advance, machines } = played
  for (const peer of ['a', 'b', 'c']) found(peer, [DIRECT, RELAYED])
  advance(5_000)
  // one is tried at a time
  expect(dials.filter(({ route }) => route === 'direct')).toHaveLength(3)
  const [first] = dials.filter(({ route }) => route === 'relay')
  expect(dials.filter(({ route }) => route === 'relay')).toHaveLength(1)
  const waiting = ['a', 'b', 'c'].filter((peer) => peer !== first?.peer)
  expect(waiting.map((peer) => machines.get(peer)?.search?.needsRelay)).toEqual([true, true])
  // told again without news it waits on
  found(waiting[0] ?? '', [DIRECT])
  advance(5_000)
  expect(dials.filter(({ route }) => route === 'direct')).toHaveLength(3)
  found(waiting[0] ?? '', [{ text: '/ip4/192.0.2.2/tcp/4001', relay: undefined }])
  advance(3_000)
  expect(dials.filter(({ route }) => route === 'direct')).toHaveLength(4)
})

test('asked for: own addresses at once, the relay a quarter of a second later, both once more', () => {
  const { dials, found, take, advance, effects } = playMachines('z', { answer: () => 'fails' })
  found('a', [DIRECT, RELAYED])
  take('a', { type: 'demand' })
  advance(200)
  expect(dials.map(({ route }) => route)).toEqual(['direct', 'relay'])
  advance(CONNECT_RETRY_MS)
  expect(dials.map(({ route }) => route)).toEqual(['direct', 'relay', 'direct', 'relay'])
  const answers = effects.filter(({ effect }) => effect.type === 'answer')
  expect(answers).toEqual([{ peer: 'a', effect: { type: 'answer', connected: false } }])
  advance(500)
  expect(dials).toHaveLength(4)
})

test('asked for while its own addresses hang: the relay answers, and the dial goes on', () => {
  const { take, advance, effects, found, machines } = playMachines('a', {
    answer: ({ route }) => (route === 'direct' ? 'hangs' : 'connects'),
  })
  found('z', [DIRECT, RELAYED])
  advance(10)
  take('z', { type: 'demand' })
  advance(300)
  expect(effects.some(({ effect }) => effect.type === 'answer' && effect.connected)).toBe(true)
  expect(machines.get('z')?.dials.direct).toBeDefined()
  expect(effects.some(({ effect }) => effect.type === 'abandon')).toBe(false)
})

test('asked for before a relay is known, and while its own addresses hang: the relay is dialled when it is told', () => {
  const { dials, take, advance, effects, found } = playMachines('a', {
    answer: ({ route }) => (route === 'direct' ? 'hangs' : 'connects'),
  })
  found('z', [DIRECT])
  advance(10)
  take('z', { type: 'demand' })
  advance(3_000)
  expect(dials.map(({ route }) => route)).toEqual(['direct'])
  found('z', [DIRECT, RELAYED])
  advance(100)
  expect(effects.some(({ effect }) => effect.type === 'answer' && effect.connected)).toBe(true)
})

test('asked for: ever new relays that fail are not dialled without end', () => {
  const { dials, take, advance, found } = playMachines('a', {
    answer: ({ route }) => (route === 'direct' ? 'hangs' : 'fails'),
  })
  found('z', [DIRECT])
  advance(10)
  take('z', { type: 'demand' })
  for (let at = 0; at < 30; at++) {
    advance(100)
    found('z', [{ text: `/ip4/192.0.2.9/tcp/${4_000 + at}/p2p/relay/p2p-circuit`, relay: 'relay' }])
  }
  // one more is dialled by the search that runs beside
  expect(dials.filter(({ route }) => route === 'relay').length).toBeLessThanOrEqual(MAX_DEMAND_NEWS + 1)
})

test('asked for without any address it fails in time', () => {
  const { take, advance, effects } = playMachines('a')
  take('z', { type: 'demand' })
  advance(CONNECT_RETRY_MS + 1)
  expect(effects.map(({ effect }) => effect)).toEqual([{ type: 'answer', connected: false }])
})

test('a relayed connection is made direct by both ways, and gives way some seconds later', () => {
  const { dials, connect, advance, closed, open } = playMachines('a', {
    answer: ({ route }) => (route === 'webrtc' ? 'connects' : 'fails'),
    surroundings: { canUpgrade: true },
    usable: () => [DIRECT],
  })
  connect('z', { direct: false })
  advance(UPGRADE_RETRY_MS[0] ?? 0)
  expect(dials.map(({ route }) => route).sort()).toEqual(['direct', 'webrtc'])
  advance(100)
  expect(open('z').map(({ direct }) => direct)).toEqual([false, true])
  advance(RELAYED_GRACE_MS)
  expect(closed).toEqual(['z'])
  expect(open('z').map(({ direct }) => direct)).toEqual([true])
})

test('what cannot be made direct stays, says so, and is tried again later; the greater id waits longer', () => {
  const since: number[] = []
  for (const self of ['a', 'z']) {
    const { dials, connect, advance, effects, now } = playMachines(self, {
      answer: () => 'fails',
      surroundings: { canUpgrade: true },
    })
    const begun = now()
    connect('m', { direct: false })
    advance(30_000)
    expect(effects.filter(({ effect }) => effect.type === 'upgradeFailed')).toHaveLength(2)
    since.push((dials[0]?.at ?? 0) - begun)
  }
  expect((since[1] ?? 0) - (since[0] ?? 0)).toBe(UPGRADE_GREATER_ID_WAITS_MS)
})

test('reservations: one asked at a time, two in all, and who refuses is left alone', () => {
  const reservations: string[] = []
  const { take, connect, advance, effects } = playMachines('m', { surroundings: { reservations } })
  const asked = () => effects.filter(({ effect }) => effect.type === 'reserve').map(({ peer }) => peer)
  for (const peer of ['a', 'b', 'c', 'd']) {
    connect(peer)
    take(peer, { type: 'relayOffer', offered: true })
  }
  advance(RELAY_CHECK_DELAY_MS)
  expect(asked()).toEqual(['a'])
  take('a', { type: 'reserved', ok: false })
  advance(1)
  expect(asked()).toEqual(['a', 'b'])
  for (const peer of ['b', 'c']) {
    reservations.push(peer)
    take(peer, { type: 'reserved', ok: true })
    advance(1)
  }
  expect(asked()).toEqual(['a', 'b', 'c'])
  reservations.splice(0)
  advance(RELAY_REFUSED_MS)
  expect(asked()).toContain('a')
})

test('beyond the bound one that nothing is wanted of is forgotten, and one that is needed is taken', () => {
  const { found, take, machines, connect } = playMachines('a')
  for (let peer = 0; peer < MAX_KNOWN_PEERS + 10; peer++) found(`z${peer}`)
  expect(machines.all()).toHaveLength(MAX_KNOWN_PEERS)
  take('asked', { type: 'demand' })
  connect('connected')
  expect(machines.get('asked')).toBeDefined()
  expect(machines.get('connected')).toBeDefined()
})

describe('one address that tells of thousands', () => {
  const flood = (
    played: ReturnType<typeof playMachines>,
    kind: 'member' | 'found',
    count = MAX_KNOWN_PEERS,
  ) => {
    for (let peer = 0; peer < count; peer++) played.found(`z${peer}`, [DIRECT], kind, 'its address')
    played.advance(1_000)
  }

  test('leaves a newcomer of another one to be dialled at once', () => {
    const played = playMachines('a', { answer: () => 'fails' })
    flood(played, 'found', 500)
    played.found('zz', [DIRECT], 'found', 'another')
    played.advance(2_000)
    expect(peersOf(played.dials)).toContain('zz')
  })

  test('leaves a dial to others though its peers were members', () => {
    const played = playMachines('a', { answer: () => 'fails', tookMs: () => 5_000 })
    flood(played, 'member', 100)
    expect(played.dials).toHaveLength(MAX_PARALLEL_DIALS)
    played.found('zz', [DIRECT], 'found', 'another')
    played.advance(5_000)
    expect(peersOf(played.dials)).toContain('zz')
  })

  test('has no more dials than there are, though its peers answer nothing', () => {
    const played = playMachines('a', { answer: () => 'hangs' })
    flood(played, 'found', 100)
    expect(played.dials).toHaveLength(MAX_PARALLEL_DIALS)
    for (let from = 0; from < 20; from++) played.found(`y${from}`, [DIRECT], 'found', `another ${from}`)
    played.advance(10)
    expect(played.dials).toHaveLength(MAX_PARALLEL_DIALS + MAX_FURTHER_DIALS)
  })

  test('leaves room for a newcomer of another one', () => {
    const played = playMachines('a', { answer: () => 'hangs' })
    flood(played, 'found')
    played.found('zz', [DIRECT], 'found', 'another')
    expect(played.machines.get('zz')).toBeDefined()
    played.found('zzz', [DIRECT], 'found', 'its address')
    expect(played.machines.get('zzz')).toBeUndefined()
  })

  test('does not take a peer of another one into its own queue by telling of it, too', () => {
    const played = playMachines('a', { answer: () => 'fails' })
    flood(played, 'found', 500)
    played.found('zz', [DIRECT], 'found', 'its address')
    played.found('zz', [DIRECT], 'found', 'another')
    played.found('zz', [DIRECT], 'found', 'its address')
    played.advance(2_000)
    expect(peersOf(played.dials)).toContain('zz')
  })

  test('has not more newcomers dialled than others together', () => {
    const played = playMachines('a', { answer: () => 'fails' })
    flood(played, 'found', 500)
    for (let from = 0; from < 20; from++)
      for (let peer = 0; peer < 10; peer++) played.found(`y${from}-${peer}`, [DIRECT], 'found', `${from}`)
    played.advance(1_000)
    const newcomers = new Set(peersOf(played.dials))
    expect(newcomers.size).toBe(MAX_VAIN_DIALS_PER_MINUTE + MAX_FURTHER_VAIN_DIALS)
  })
})
