import { BUCKETS, parseCidr } from '@mesh/core'
import { loopBudget, TURN_MS } from '@mesh/core/limits'
import type { Entry, KeyedEntry, LedgerEvent } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { expect, it } from 'vitest'
import { OTHER, SELF } from '../test/names-world.ts'
import { createKnownNames, type NamesLedger } from './known-names.ts'
import { STEP_ENTRIES } from './limits.ts'

const COUNT = 1_000
/** How long it takes to read an entry, in ms. */
const READ_MS = 0.1

it('reads a ledger of thousands of entries in turns, of which none takes longer than it may', async () => {
  const { names, clock, reads, perTurn } = setUp()
  expect(names.current()).toBeUndefined()
  const first = reads()
  await clock.advance(0)
  expect(names.current()?.patterns.used).toBe(COUNT)
  expect(names.current()?.zone.names.has('host-7.mesh.')).toBe(true)
  expect(reads()).toBe(3 * COUNT)
  // the time of a turn, the step before it counts, and the one in which it ends
  expect(Math.max(first, ...perTurn)).toBeLessThanOrEqual(TURN_MS / READ_MS + 2 * STEP_ENTRIES)
})

it('answers with the names before while new ones are built', async () => {
  const { names, clock, put } = setUp()
  names.current()
  await clock.advance(0)
  const before = names.current()
  put(BUCKETS.machines, '10.1.200.1', { PeerID: OTHER, Hostname: 'newcomer' })
  await clock.advance(1_000)
  expect(names.current()).toBe(before)
  // one that comes while they are built is in the next ones
  put(BUCKETS.machines, '10.1.200.2', { PeerID: SELF, Hostname: 'later' })
  await clock.advance(0)
  expect(names.current()?.zone.names.has('newcomer.mesh.')).toBe(true)
  await clock.advance(1_000)
  names.current()
  await clock.advance(0)
  expect(names.current()?.zone.names.has('later.mesh.')).toBe(true)
})

it('has the names of a small network at once, however little time there is', async () => {
  const { names, clock, put, takeTurn } = setUp(10)
  takeTurn()
  expect(names.current()?.patterns.used).toBe(10)
  put(BUCKETS.dns, 'another', { 1: '10.1.0.1' })
  await clock.advance(1_000)
  takeTurn()
  expect(names.current()?.patterns.used).toBe(11)
})

it('builds no names any more once it has stopped', async () => {
  const { names, clock, reads } = setUp()
  names.current()
  names.stop()
  const before = reads()
  await clock.advance(1_000)
  expect(reads()).toBe(before)
})

function setUp(count = COUNT) {
  const clock = createManualClock()
  const buckets = new Map<string, KeyedEntry[]>()
  const listeners = new Set<(event: LedgerEvent) => void>()
  const perTurn: number[] = []
  let reads = 0
  let version = 0n
  const put = (bucket: string, key: string, value: Readonly<Record<string, unknown>>) => {
    const owner = typeof value['PeerID'] === 'string' ? value['PeerID'] : SELF
    const common = { owner, version: ++version, updatedAt: 0, deleted: false, sig: null }
    const entry: Entry = { ...common, value: JSON.stringify(value) }
    const rows = buckets.get(bucket) ?? []
    buckets.set(bucket, [...rows, { bucket, key, entry }])
    const head = { index: 1, timestamp: '', hash: '', prevHash: '' }
    const change = { bucket, key, entry, previous: undefined, origin: 'remote' } as const
    for (const listener of listeners) listener({ type: 'committed', head, changes: [change] })
  }
  for (let n = 0; n < count; n++) {
    const peer = n % 2 === 0 ? SELF : OTHER
    put(BUCKETS.machines, `10.1.${n >> 8}.${n & 255}`, { PeerID: peer, Hostname: `host-${n}`, Guest: true })
    put(BUCKETS.services, `service-${n}`, { PeerID: SELF })
    put(BUCKETS.dns, `name-${n}`, { 1: '10.1.0.1' })
  }
  function* counted(rows: readonly KeyedEntry[]) {
    for (const row of rows) {
      reads++
      yield row
    }
  }
  const ledger = {
    self: SELF,
    mode: 'enforce',
    snapshot: () => {
      const held = new Map(buckets)
      return {
        head: { index: 1, timestamp: '', hash: '', prevHash: '' },
        entries: (bucket = '') => counted(held.get(bucket) ?? []),
        isOwnerLive: () => true,
      }
    },
    subscribe(listener: (event: LedgerEvent) => void) {
      listeners.add(listener)
      return () => listeners.delete(listener)
    },
  } as unknown as NamesLedger
  const timed = {
    ...clock,
    monotonic: () => clock.monotonic() + reads * READ_MS,
    after: (delayMs: number, work: () => void) =>
      clock.after(delayMs, () => {
        const before = reads
        work()
        perTurn.push(reads - before)
      }),
  }
  const range = parseCidr('10.1.0.0/16')
  const names = createKnownNames(
    { zone: 'mesh.', hostRanges: [range], ownRanges: [range], livenessMs: 480_000 },
    { ledger, clock: timed },
  )
  /** Uses up what there is of time in this turn of the event loop. */
  const takeTurn = () => {
    loopBudget(timed).isTimeLeft('background')
    reads += TURN_MS / READ_MS
  }
  return { names, clock, put, perTurn, takeTurn, reads: () => reads }
}
