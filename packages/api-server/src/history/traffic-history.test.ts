import { KEPT_TRAFFIC_STEPS, MAX_TOLD_FLOWS, TRAFFIC_STEP_SECONDS } from '@mesh/api-contract'
import type { ManualClock } from '@mesh/testkit'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_FLOW_SERIES } from '../limits.ts'
import type { TrafficStats } from '../ports.ts'
import type { VpnPort } from '../vpn-port.ts'
import { TrafficHistory } from './traffic-history.ts'

const STEP_MS = 1_000 * TRAFFIC_STEP_SECONDS

interface Counts {
  readonly peers?: Readonly<Record<string, number>>
  readonly protocols?: Readonly<Record<string, number>>
}

/** A node whose counters the test moves; the VPN comes when the test says so. */
function build(clock: ManualClock = createManualClock()) {
  const total = { in: 0, out: 0 }
  const peers = new Map<string, TrafficStats>()
  const protocols = new Map<string, TrafficStats>()
  const vpn = {
    peers: new Map<string, { PacketsIn: number; PacketsOut: number }>(),
    drops: new Map<string, number>(),
  }
  let port: VpnPort | undefined
  let reads = 0
  const history = new TrafficHistory({
    clock,
    traffic: {
      total() {
        reads++
        return stats(total.in, total.out)
      },
      byPeer: () => new Map(peers),
      byProtocol: () => new Map(protocols),
    },
    vpn: () => port,
  })
  const add = (to: Map<string, TrafficStats>, id: string, bytes: number) => {
    const { totalIn = 0, totalOut = 0 } = to.get(id) ?? {}
    to.set(id, stats(totalIn + bytes, totalOut))
  }
  return {
    history,
    clock,
    peers,
    vpn,
    reads: () => reads,
    carry({ peers: byPeer = {}, protocols: byProtocol = {} }: Counts) {
      for (const [id, bytes] of Object.entries(byPeer)) add(peers, id, bytes)
      for (const [id, bytes] of Object.entries(byProtocol)) add(protocols, id, bytes)
    },
    carryInAll(bytesIn: number, bytesOut: number) {
      total.in += bytesIn
      total.out += bytesOut
    },
    startVpn() {
      port = {
        status: () => ({
          Peers: [...vpn.peers].map(([PeerID, counts]) => ({ PeerID, ...counts })),
          Drops: Object.fromEntries(vpn.drops),
        }),
      } as VpnPort
    },
    step: (steps = 1) => clock.advance(steps * STEP_MS),
  }
}

const stats = (totalIn: number, totalOut: number): TrafficStats => ({
  totalIn,
  totalOut,
  rateIn: 0,
  rateOut: 0,
})
const zeros = (count: number): number[] => Array.from({ length: count }, () => 0)

test('is empty before the first step, and then has differences of totals', async () => {
  const node = build()
  node.carryInAll(500, 20)
  await node.clock.advance(STEP_MS - 1)
  expect(node.history.view()).toEqual({
    StepSeconds: 10,
    Until: '2026-01-01T00:00:00.000Z',
    In: [],
    Out: [],
    Peers: [],
    Protocols: [],
    Vpn: null,
  })
  await node.clock.advance(1)
  node.carryInAll(3, 0)
  await node.step()
  expect(node.history.view()).toMatchObject({ Until: '2026-01-01T00:00:20.000Z', In: [50, 0.3], Out: [2, 0] })
})

test('what was carried before the start does not count', async () => {
  const clock = createManualClock()
  const history = new TrafficHistory({
    clock,
    traffic: {
      total: () => stats(9_000, 9_000),
      byPeer: () => new Map([['a', stats(9_000, 9_000)]]),
      byProtocol: () => new Map(),
    },
    vpn: () => undefined,
  })
  await clock.advance(STEP_MS)
  expect(history.view()).toMatchObject({ In: [0], Out: [0], Peers: [] })
})

test('keeps an hour, and gives only the last steps when asked for them', async () => {
  const node = build()
  node.carryInAll(1_000, 0)
  await node.step(KEPT_TRAFFIC_STEPS)
  expect(node.history.view().In[0]).toBe(100)
  await node.step()
  node.carryInAll(700, 0)
  await node.step()
  const { In } = node.history.view()
  expect(In).toEqual([...zeros(KEPT_TRAFFIC_STEPS - 1), 70])
  expect(node.history.view(2).In).toEqual([0, 70])
  expect(node.history.view(0)).toMatchObject({ In: [], Out: [] })
  expect(node.history.view(10_000).In).toHaveLength(KEPT_TRAFFIC_STEPS)
})

test('tells flows by what they carried; a counter that began anew counts from zero', async () => {
  const node = build()
  node.carry({ peers: { a: 100, b: 300 }, protocols: { '/x/1': 50 } })
  await node.step()
  node.peers.set('b', stats(40, 10))
  await node.step()
  expect(node.history.view()).toMatchObject({
    Peers: [
      { ID: 'b', In: [30, 4], Out: [0, 1] },
      { ID: 'a', In: [10, 0], Out: [0, 0] },
    ],
    Protocols: [{ ID: '/x/1', In: [5, 0], Out: [0, 0] }],
  })
})

test('a flow is gone an hour after it was last heard, though its counter is', async () => {
  const node = build()
  node.carry({ peers: { a: 100 } })
  await node.step()
  node.peers.clear()
  await node.step(KEPT_TRAFFIC_STEPS - 1)
  expect(node.history.view().Peers).toHaveLength(1)
  await node.step()
  expect(node.history.view().Peers).toEqual([])
})

test('tells the flows apart that carried most, and all others as one', async () => {
  const node = build()
  const many = Array.from({ length: 300 }, (_, at) => [`p${at}`, 1_000 - at] as const)
  node.carry({ peers: Object.fromEntries(many) })
  await node.step()
  const { Peers } = node.history.view()
  expect(Peers.map(({ ID }) => ID)).toEqual([...many.slice(0, MAX_TOLD_FLOWS).map(([id]) => id), ''])
  const all = many.reduce((sum, [, bytes]) => sum + bytes, 0)
  const told = Peers.reduce((sum, { In }) => sum + (In[0] ?? 0), 0)
  expect(told).toBeCloseTo(all / TRAFFIC_STEP_SECONDS, 5)
})

test('a flow that comes late takes the place of a smaller one, whose bytes go to the others', async () => {
  const node = build()
  const first = Array.from({ length: MAX_FLOW_SERIES }, (_, at) => [`p${at}`, 1_000 + at] as const)
  node.carry({ peers: Object.fromEntries(first) })
  await node.step()
  for (let round = 0; round < 30; round++) {
    node.carry({ peers: { late: 900 } })
    await node.step()
  }
  const { Peers } = node.history.view()
  expect(Peers[0]?.ID).toBe('late')
  const sum = Peers.flatMap(({ In }) => In).reduce((all, rate) => all + rate, 0)
  const carried = first.reduce((all, [, bytes]) => all + bytes, 30 * 900)
  expect(Math.abs(sum - carried / TRAFFIC_STEP_SECONDS)).toBeLessThan(2)
  expect(Peers.find(({ ID }) => ID === '')?.In[0]).toBeGreaterThan(0)
})

test('counts packets of the VPN by machine, so that one that leaves does not hide the others', async () => {
  const node = build()
  node.startVpn()
  node.vpn.drops.set('noRoute', 7)
  await node.step()
  node.vpn.peers.set('a', { PacketsIn: 1_000, PacketsOut: 10 })
  node.vpn.drops.set('noRoute', 9).set('queueFull', 20).set('never', 0)
  await node.step()
  node.vpn.peers.clear()
  node.vpn.peers.set('b', { PacketsIn: 50, PacketsOut: 0 })
  node.vpn.drops.set('noRoute', 3)
  await node.step()
  node.vpn.drops.set('noRoute', 4)
  await node.step()
  expect(node.history.view().Vpn).toEqual({
    In: [0, 100, 5, 0],
    Out: [0, 1, 0, 0],
    Drops: [
      { Reason: 'noRoute', Dropped: [0, 0.2, 0, 0.1], Total: 10 },
      { Reason: 'queueFull', Dropped: [0, 2, 0, 0], Total: 20 },
    ],
  })
})

test('a VPN that starts later has steps without packets before', async () => {
  const node = build()
  await node.step(2)
  node.startVpn()
  expect(node.history.view().Vpn).toEqual({ In: [0, 0], Out: [0, 0], Drops: [] })
  node.vpn.peers.set('a', { PacketsIn: 30, PacketsOut: 0 })
  await node.step()
  expect(node.history.view().Vpn?.In).toEqual([0, 0, 3])
})

test('a timer that comes late fills the steps that it missed', async () => {
  const manual = createManualClock()
  let late = 0
  const node = build({ ...manual, monotonic: () => manual.monotonic() + late })
  node.carryInAll(300, 0)
  late = 2 * STEP_MS
  await manual.advance(STEP_MS)
  expect(node.history.view().In).toEqual([10, 10, 10])
  late = 10 * KEPT_TRAFFIC_STEPS * STEP_MS
  await manual.advance(STEP_MS)
  expect(node.history.view().In).toEqual(zeros(KEPT_TRAFFIC_STEPS))
})

test('survives that the time of day is set', async () => {
  const manual = createManualClock()
  let setBy = 0
  const node = build({ ...manual, now: () => manual.now() + setBy })
  await node.step(2)
  setBy = -86_400_000
  await manual.advance(1)
  expect(node.history.view()).toMatchObject({ Until: '2025-12-31T00:00:20.000Z', In: [0, 0] })
  await node.step()
  expect(node.history.view().In).toHaveLength(3)
})

test('reads nothing after it stopped', async () => {
  const node = build()
  await node.step(3)
  const before = node.reads()
  node.history.stop()
  await node.step(3)
  expect(node.reads()).toBe(before)
})
