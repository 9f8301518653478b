import { type IpAddress, parseCidr, silentLogger } from '@mesh/core'
import { TURN_MS } from '@mesh/core/limits'
import type { LedgerEvent } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import { describe, expect, it } from 'vitest'
import { createWorld, LIVENESS_MS, peerNamed } from '../../test/table-world.ts'
import type { LeaseStore } from '../vpn.ts'
import { MAX_REBUILD_DELAY_MS, STEP_ENTRIES } from '../limits.ts'
import type { VpnTable } from './build-table.ts'
import type { TableSnapshot } from './table-input.ts'
import { TableWatch } from './watch-table.ts'

const [A, B] = [peerNamed('a'), peerNamed('b')]

it('builds anew for machines, several changes at once', async () => {
  const { world, change, clock, tables } = setUp()
  world.machine('10.1.0.2', A)
  change('machines', '10.1.0.2')
  change('machines', '10.1.0.3')
  change('notes', 'anything')
  expect(tables).toHaveLength(1)
  await clock.advance(20)
  expect(tables).toHaveLength(2)
  expect(peersOf(tables.at(-1))).toEqual([A])
})

it.each([
  [1, 'neither accepted nor advertised', {}],
  [2, 'accepted', { followsRoutes: true }],
  [2, 'advertised', { advertisesRoutes: true }],
])('builds %s tables after a change of routes where those are %s', async (built, _, init) => {
  const { change, clock, tables } = setUp(init)
  change('routes', '192.168.7.0/24')
  await clock.advance(20)
  expect(tables).toHaveLength(built)
})

it('drops a machine when its heartbeat ends, and takes it back with the next', async () => {
  const { world, change, clock, tables } = setUp()
  world.machine('10.1.0.2', A).machine('10.1.0.3', B)
  change('machines', '10.1.0.2')
  await clock.advance(20)
  expect(peersOf(tables.at(-1))).toEqual([A, B])

  world.beat(B, 60_000)
  change('healthcheck', B)
  await clock.advance(LIVENESS_MS - 100)
  // who is alive anyway is no reason to build
  expect(tables).toHaveLength(2)
  await clock.advance(1000)
  expect(peersOf(tables.at(-1))).toEqual([B])

  world.beat(A, LIVENESS_MS)
  change('healthcheck', A)
  await clock.advance(20)
  expect(peersOf(tables.at(-1))).toEqual([A, B])
})

it('looks at the networks and routes of the host now and then', async () => {
  const { clock, tables, host } = setUp({ followsRoutes: true })
  await clock.advance(10_000)
  expect(tables).toHaveLength(1)
  host.connected = [parseCidr('192.168.1.0/24')]
  await clock.advance(10_100)
  expect(tables).toHaveLength(2)
  host.routed = [parseCidr('10.9.0.0/16')]
  await clock.advance(10_100)
  expect(tables).toHaveLength(3)
})

it('leaves no timer behind', async () => {
  const { change, clock, watch, tables } = setUp({ followsRoutes: true })
  change('machines', 'x')
  watch.stop()
  expect(clock.pending).toBe(0)
  await clock.advance(LIVENESS_MS * 2)
  expect(tables).toHaveLength(1)
})

describe('a ledger of a thousand machines and routes', () => {
  const COUNT = 1_000
  const fill = (world: ReturnType<typeof createWorld>) => {
    for (let n = 0; n < COUNT; n++) {
      world.machine(`10.1.${4 + (n >> 8)}.${n & 255}`, A).route(`192.168.${n >> 8}.${n & 255}/32`, A)
    }
  }

  it('is read in turns, of which none takes longer than it may', async () => {
    const { clock, tables, watch, reads, perTurn } = setUp({ followsRoutes: true, fill, readMs: 0.1 })
    expect(tables).toHaveLength(0)
    const first = reads()
    await clock.advance(0)
    await watch.ready
    expect(reads()).toBeGreaterThanOrEqual(2 * COUNT)
    // a turn of reading, the step before it counts, and the one in which it ends
    expect(Math.max(first, ...perTurn)).toBeLessThanOrEqual(TURN_MS / 0.1 + 2 * STEP_ENTRIES)
    expect(peersOf(tables[0])).toEqual([A])
  })

  it('changes while the table is built, which is built again', async () => {
    const { clock, tables, watch, world, change } = setUp({ fill, readMs: 0.1 })
    world.machine('10.1.0.2', B)
    change('machines', '10.1.0.2')
    await clock.advance(5_000)
    expect(tables.map(peersOf)).toEqual([[A], [B, A]])

    world.machine('10.1.0.3', peerNamed('c'))
    change('machines', '10.1.0.3')
    await clock.advance(20)
    // a heartbeat of somebody whom the table before did not know
    world.beat(peerNamed('c'), 0)
    change('healthcheck', peerNamed('c'))
    expect(tables).toHaveLength(2)
    watch.rebuild()
    await clock.advance(5_000)
    expect(peersOf(tables.at(-1))).toContain(peerNamed('c'))
  })

  it('is built to the end, however often the ledger changes meanwhile, and who was shut out is gone soon', async () => {
    const story = setUp({ fill, readMs: 0.1, onTurn: () => story.change('machines', '10.1.0.9') })
    const { clock, tables, watch, world, tell } = story
    await clock.advance(0)
    expect(peersOf(tables[0])).toEqual([A])
    const [shutOut] = [tables.length]
    world.beat(A, -LIVENESS_MS).machine('10.1.0.2', B)
    tell({ type: 'admission' } as LedgerEvent)
    await clock.advance(MAX_REBUILD_DELAY_MS)
    expect(peersOf(tables[shutOut])).toEqual([B])
    await clock.advance(10 * MAX_REBUILD_DELAY_MS)
    expect(tables.length).toBeGreaterThan(10)
    watch.stop()
  })

  it('is read no further when the table before it led to it and nobody wants it', async () => {
    const few = (world: ReturnType<typeof createWorld>) => {
      for (let n = 0; n < STEP_ENTRIES + 20; n++) world.machine(`10.1.4.${n}`, A)
    }
    const { clock, tables, watch, change, onTables } = setUp({ fill: few, readMs: 0.3 })
    expect(tables).toHaveLength(1)
    change('machines', '10.1.4.1')
    onTables.push(() => {
      if (tables.length > 2) return
      // this turn has no time left for the next one
      watch.rebuild()
      queueMicrotask(() => watch.stop())
    })
    await clock.advance(5_000)
    expect(tables).toHaveLength(2)
  })

  it('is read no further when nobody wants the table any more', async () => {
    const { clock, tables, watch, reads } = setUp({ fill, readMs: 0.1 })
    watch.stop()
    const before = reads()
    await clock.advance(5_000)
    expect(reads()).toBe(before)
    expect(tables).toHaveLength(0)
  })
})

it('keeps what it accepted over a restart, whoever claims the network around it by then', async () => {
  const kept: { text?: string } = {}
  const routeStore = { read: () => kept.text, write: (text: string) => void (kept.text = text) }
  const first = setUp({ followsRoutes: true, routeStore })
  first.world.route('192.168.7.0/24', A)
  first.change('routes', '192.168.7.0/24')
  await first.clock.advance(6_000)
  first.watch.stop()
  expect(JSON.parse(kept.text ?? '')).toEqual([{ peer: A, range: '192.168.7.0/24' }])
  const rangesOf = async (store: LeaseStore) => {
    const { world, change, clock, tables, watch } = setUp({ followsRoutes: true, routeStore: store })
    world.route('192.168.0.0/16', B).route('192.168.7.0/24', A)
    change('routes', '192.168.7.0/24')
    await clock.advance(20)
    watch.stop()
    return tables.at(-1)?.accepted.map(({ range }) => range)
  }
  // of two that nobody knows the wider one comes first
  const unknown = ['[]', '{', '{}', '[1,null,{"peer":7}]']
  for (const text of unknown) expect(await rangesOf({ ...routeStore, read: () => text })).toHaveLength(1)
  expect(await rangesOf(routeStore)).toEqual(['192.168.7.0/24', '192.168.0.0/16'])
})

function setUp({
  followsRoutes = false,
  advertisesRoutes = false,
  routeStore,
  fill = () => {},
  readMs = 0,
  onTurn = () => {},
}: {
  readonly followsRoutes?: boolean
  readonly advertisesRoutes?: boolean
  readonly routeStore?: LeaseStore
  readonly fill?: (world: ReturnType<typeof createWorld>) => void
  /** How long it takes to read an entry, in ms. */
  readonly readMs?: number
  /** Called at the end of each turn of the event loop. */
  readonly onTurn?: () => void
} = {}) {
  const world = createWorld()
  let reads = 0
  /** How many were read in each turn of the event loop. */
  const perTurn: number[] = []
  function* counted(entries: ReturnType<TableSnapshot['entries']>) {
    for (const keyed of entries) {
      reads++
      yield keyed
    }
  }
  fill(world)
  const clock = createManualClock(world.start)
  world.beat(A, 0).beat(B, 0)
  const listeners = new Set<(event: LedgerEvent) => void>()
  const tables: VpnTable[] = []
  const host = {
    connected: [] as ReturnType<typeof parseCidr>[],
    routed: [] as ReturnType<typeof parseCidr>[],
  }
  const onTables: (() => void)[] = []
  const countReads = (snapshot: TableSnapshot): TableSnapshot => ({
    ...snapshot,
    entries: (bucket) => counted(snapshot.entries(bucket)),
  })
  const watch = new TableWatch(
    {
      read: () => ({
        snapshot: countReads(world.snapshot()),
        now: clock.now(),
        self: peerNamed('self'),
        mode: 'enforce',
        livenessMs: LIVENESS_MS,
        own: [],
        ranges: [parseCidr('10.1.0.0/16')],
        derived: { prefix: parseCidr('fd77::/64'), addressOf: () => 'fd77::1' as IpAddress },
        staticPeers: [],
        admits: () => true,
        router: undefined,
        accept: { any: followsRoutes, from: new Set() },
        advertised: [],
        connected: host.connected,
        routed: host.routed,
        remotes: [],
      }),
      followsRoutes,
      advertisesRoutes,
      onTable(table) {
        tables.push(table)
        for (const listener of onTables) listener()
      },
    },
    {
      ledger: {
        subscribe(listener) {
          listeners.add(listener)
          return () => listeners.delete(listener)
        },
      },
      clock: {
        ...clock,
        monotonic: () => clock.monotonic() + reads * readMs,
        after: (delayMs, work) =>
          clock.after(delayMs, () => {
            const before = reads
            work()
            perTurn.push(reads - before)
            onTurn()
          }),
      },
      log: silentLogger,
      ...(routeStore !== undefined && { routeStore }),
    },
  )
  function change(bucket: string, key: string): void {
    const entry = { value: '""', owner: key, version: 1n, updatedAt: 0, deleted: false, sig: null }
    const head = { index: 1, timestamp: '', hash: '', prevHash: '' }
    const changes = [{ bucket, key, entry, previous: undefined, origin: 'remote' as const }]
    tell({ type: 'committed', head, changes })
  }
  function tell(event: LedgerEvent): void {
    for (const listener of listeners) listener(event)
  }
  return { world, clock, tables, onTables, host, watch, change, tell, reads: () => reads, perTurn }
}

function peersOf(table: VpnTable | undefined) {
  return [...(table?.peers.keys() ?? [])]
}
