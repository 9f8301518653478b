import { BUCKETS, heartbeatValue } from '@mesh/core'
import { loopBudget, TURN_MS } from '@mesh/core/limits'
import type { Entry, Ledger, LedgerEvent, Snapshot } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createLists } from '../handlers/lists.ts'
import { MACHINE_CHECK_SOON_MS, STEP_MACHINES } from '../limits.ts'
import { MachineList } from '../views/machine-list.ts'
import type { EventHub } from './event-hub.ts'
import { watchMachines } from './machine-watch.ts'

const COUNT = 1_000
/** How long it takes to look at a heartbeat, in ms. */
const LOOK_MS = 0.02

function setUp() {
  const clock = createManualClock()
  const entryOf = (owner: string, value: string): Entry => ({
    owner,
    value,
    version: 1n,
    updatedAt: 0,
    deleted: false,
    sig: null,
  })
  const peers = Array.from({ length: COUNT }, (_, at) => `peer-${String(at).padStart(4, '0')}`)
  const machines = peers.map((peer, at) => {
    const address = `10.1.${at >> 8}.${at & 255}`
    const value = JSON.stringify({ PeerID: peer, Hostname: peer, Address: address })
    return { bucket: BUCKETS.machines, key: address, entry: entryOf(peer, value) }
  })
  const held = new Map(machines.map(({ key, entry }) => [key, entry]))
  const beats = new Map(peers.map((peer) => [peer, entryOf(peer, heartbeatValue(clock.now()))]))
  let looks = 0
  const takeSnapshot = () =>
    ({
      entries: () => machines,
      getLive(bucket: string, key: string) {
        looks++
        return bucket === BUCKETS.healthcheck ? beats.get(key) : held.get(key)
      },
    }) as Partial<Snapshot> as Snapshot
  const listeners = new Set<(event: LedgerEvent) => void>()
  const ledger = {
    subscribe(listener: (event: LedgerEvent) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
    snapshot: takeSnapshot,
  } as Partial<Ledger> as Ledger
  const change = (bucket: string, key: string) => {
    const entry = entryOf(key, '""')
    const changed = { bucket, key, entry, previous: undefined, origin: 'remote' }
    const head = { index: 1, timestamp: '', hash: '', prevHash: '' }
    for (const tell of listeners) tell({ type: 'committed', head, changes: [changed as never] })
  }
  const perTurn: number[] = []
  const timed = {
    ...clock,
    monotonic: () => clock.monotonic() + looks * LOOK_MS,
    after: (delayMs: number, work: () => void) =>
      clock.after(delayMs, () => {
        const before = looks
        work()
        perTurn.push(looks - before)
      }),
  }
  const budget = loopBudget(timed)
  const list = new MachineList(ledger, budget)
  const scene = () => ({
    snapshot: takeSnapshot(),
    machines: list,
    self: 'self',
    network: undefined,
    now: clock.now(),
  })
  return {
    clock,
    timed,
    budget,
    list,
    ledger,
    scene,
    held,
    beats,
    change,
    peers,
    perTurn,
    looks: () => looks,
  }
}

test('thousands of machines are looked at in turns, and what changed meanwhile soon after', async () => {
  const { clock, timed, budget, list, ledger, scene, beats, change, peers, perTurn, looks } = setUp()
  const told: unknown[] = []
  const hub = { publish: (type: string) => void told.push(type) } as Partial<EventHub> as EventHub
  const reading = list.caughtUp()
  await clock.advance(1)
  await reading
  expect(looks()).toBe(COUNT)
  const stop = watchMachines(ledger, scene, { hub, clock: timed, budget })
  const first = looks() - COUNT
  beats.delete(peers[0] ?? '')
  change(BUCKETS.healthcheck, peers[0] ?? '')
  await clock.advance(1)
  // each record is read once, each heartbeat looked at
  expect(looks()).toBe(2 * COUNT)
  await clock.advance(MACHINE_CHECK_SOON_MS)
  expect(looks()).toBe(3 * COUNT)
  expect(told).toEqual(['machine.offline'])
  expect(Math.max(first, ...perTurn)).toBeLessThanOrEqual(TURN_MS / LOOK_MS + 2 * STEP_MACHINES)
  stop()
  expect(clock.pending).toBeLessThanOrEqual(1)
})

test('a page of the machines looks at those that it shows, and at what has changed', async () => {
  const { clock, list, scene, held, change, looks } = setUp()
  const { listMachines } = createLists(scene)
  const ask = () => listMachines({ limit: 10 } as never, {} as never)
  const first = ask()
  await clock.advance(1)
  await first
  const [gone, moved, before] = [[...held.keys()][0] ?? '', [...held.keys()][1] ?? '', looks()]
  held.delete(gone)
  held.set(moved, { ...held.get(moved), value: '"no record"' } as Entry)
  for (const key of [gone, moved]) change(BUCKETS.machines, key)
  await ask()
  // the two keys, and for ten machines, and one more to see whether the page is full, their heartbeats
  expect(looks() - before).toBeLessThanOrEqual(2 + 11)
  expect(list.size).toBe(COUNT - 2)
  const left = [...held.keys()].filter((key) => key !== moved).sort()
  expect([...list.inOrder()].map(({ record }) => record.Address)).toEqual(left)
})

test('who asks while many machines are read waits for them, and not for ever when that ends', async () => {
  const { clock, list, looks } = setUp()
  let isRead = false
  const reading = list.caughtUp().then(() => (isRead = true))
  await Promise.resolve()
  expect(isRead).toBe(false)
  list.stop()
  await reading
  const before = looks()
  await clock.advance(10)
  expect(looks()).toBe(before)
})
