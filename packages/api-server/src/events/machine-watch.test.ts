import { BUCKETS, heartbeatValue } from '@mesh/core'
import type { Entry, Ledger, LedgerEvent, Snapshot } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { createLists } from '../handlers/lists.ts'
import { MACHINE_CHECK_SOON_MS, MACHINES_TURN_MS, STEP_MACHINES } from '../limits.ts'
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
  const beats = new Map(peers.map((peer) => [peer, entryOf(peer, heartbeatValue(clock.now()))]))
  let looks = 0
  const takeSnapshot = () =>
    ({
      entries: () => machines,
      getLive(_bucket: string, key: string) {
        looks++
        return beats.get(key)
      },
    }) as Partial<Snapshot> as Snapshot
  const listeners = new Set<(event: LedgerEvent) => void>()
  const ledger = {
    subscribe(listener: (event: LedgerEvent) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  } as Partial<Ledger> as Ledger
  const change = (peer: string) => {
    const entry = entryOf(peer, '""')
    const changed = { bucket: BUCKETS.healthcheck, key: peer, entry, previous: undefined, origin: 'remote' }
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
  const scene = () => ({ snapshot: takeSnapshot(), self: 'self', network: undefined, now: clock.now() })
  return { clock, timed, ledger, scene, beats, change, peers, perTurn, looks: () => looks }
}

test('thousands of machines are looked at in turns, and what changed meanwhile soon after', async () => {
  const { clock, timed, ledger, scene, beats, change, peers, perTurn, looks } = setUp()
  const told: unknown[] = []
  const hub = { publish: (type: string) => void told.push(type) } as Partial<EventHub> as EventHub
  const stop = watchMachines(ledger, scene, hub, timed)
  const first = looks()
  beats.delete(peers[0] ?? '')
  change(peers[0] ?? '')
  await clock.advance(1)
  expect(looks()).toBe(COUNT)
  await clock.advance(MACHINE_CHECK_SOON_MS)
  expect(looks()).toBe(2 * COUNT)
  expect(told).toEqual(['machine.offline'])
  expect(Math.max(first, ...perTurn)).toBeLessThanOrEqual(MACHINES_TURN_MS / LOOK_MS + 2 * STEP_MACHINES)
  stop()
  expect(clock.pending).toBeLessThanOrEqual(1)
})

test('a page of the machines looks at those that it shows', async () => {
  const { scene, looks } = setUp()
  await createLists(scene).listMachines({ limit: 10 } as never, {} as never)
  // one more, to see whether the page is full
  expect(looks()).toBeLessThanOrEqual(11)
})
