import { heartbeatValue } from '@mesh/core'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createLedger, type KeyedEntry, type Ledger } from '../src/index.ts'
import { createNodeSigner } from '../src/node.ts'
import type { Store, StoreBatch } from '../src/state/store.ts'
import { createMember, exchange, type Member } from './members.ts'

const HOUR_MS = 3_600_000

/** Keeps what was committed, for a second run. */
function createKeptStore(): Store {
  const entries = new Map<string, KeyedEntry>()
  let last: StoreBatch | undefined
  return {
    load: () => last && { ...last, entries: [...entries.values()], pruned: [] },
    commit(batch) {
      last = batch
      for (const { bucket, key } of batch.removes) entries.delete(`${bucket}/${key}`)
      for (const row of batch.puts) entries.set(`${row.bucket}/${row.key}`, row)
    },
    close() {},
  }
}

async function write(ledger: Ledger, clock: ManualClock, [bucket, key, value]: [string, string, string]) {
  const { settled } = ledger.put(bucket, key, value)
  await clock.advance(20)
  return await settled
}

const versionOf = (ledger: Ledger, bucket: string, key: string) =>
  ledger.snapshot().get(bucket, key)?.version ?? 0n

describe('a clock that is set back by an hour', () => {
  test('holds up no write: it gets a version above the one before, at once', async () => {
    const clock = createManualClock()
    const { ledger, beat } = createMember(1, clock)
    await beat()
    await write(ledger, clock, ['dns', 'name', '{"1":"10.1.0.1"}'])
    await write(ledger, clock, ['notes', 'a', '1'])
    const before = ['dns/name', 'notes/a', `healthcheck/${ledger.self}`].map((place) => {
      const [bucket = '', key = ''] = place.split('/')
      return { bucket, key, version: versionOf(ledger, bucket, key) }
    })
    clock.stepWall(-HOUR_MS)
    expect(await write(ledger, clock, ['dns', 'name', '{"1":"10.1.0.2"}'])).toMatchObject({
      state: 'committed',
    })
    expect(await write(ledger, clock, ['notes', 'a', '2'])).toMatchObject({ state: 'committed' })
    await beat()
    for (const { bucket, key, version } of before)
      expect(versionOf(ledger, bucket, key)).toBeGreaterThan(version)
  })

  test('is followed by others at once, by what it tells itself or by its heartbeats', async () => {
    const [ours, theirs] = [createManualClock(), createManualClock()]
    const [a, b] = [createMember(1, ours), createMember(2, theirs)]
    const ahead = () => (a.ledger.clockOffset()?.aheadMs ?? Number.NaN) / HOUR_MS
    theirs.stepWall(HOUR_MS)
    const beat = async () => {
      await b.beat()
      exchange(a, b)
    }
    await beat()
    expect(ahead()).toBeCloseTo(-1, 2)
    theirs.stepWall(-HOUR_MS)
    b.ledger.clockTold(a.ledger.self, ours.now())
    await beat()
    expect(ahead()).toBeCloseTo(0, 2)
    expect(a.ledger.clockOffset()?.differing).toEqual([])
    theirs.stepWall(-HOUR_MS)
    a.ledger.clockTold(b.ledger.self, theirs.now())
    expect(ahead()).toBeCloseTo(1, 2)
    // a heartbeat that was under way for long says less than what was told
    await b.beat()
    exchange(a, b)
    expect(ahead()).toBeCloseTo(1, 2)
  })

  test('says so, as soon as another member was heard', async () => {
    const [ours, theirs] = [createManualClock(), createManualClock()]
    const [a, b] = [createMember(1, ours), createMember(2, theirs)]
    expect(a.ledger.clockOffset()).toBeUndefined()
    ours.stepWall(-HOUR_MS)
    await b.beat()
    exchange(a, b)
    expect(a.ledger.clockOffset()).toEqual({
      aheadMs: expect.closeTo(-HOUR_MS, -2),
      members: 1,
      differing: [{ member: b.ledger.self, aheadMs: expect.closeTo(HOUR_MS, -2) }],
    })
    await ours.advance(11 * 60_000)
    expect(a.ledger.clockOffset()).toBeUndefined()
  })
})

test('between two members of which one clock is wrong, a clock that the other one has is right', async () => {
  const clocks = [0, 0, HOUR_MS, -HOUR_MS].map((stepMs) => {
    const clock = createManualClock()
    clock.stepWall(stepMs)
    return clock
  })
  const members = clocks.map((clock, at) => createMember(at + 1, clock))
  const aheadOf = async (asked: number, others: readonly number[]) => {
    const asking = createMember(asked + 1, clocks[asked] ?? createManualClock())
    for (const member of others.map((at) => members[at])) {
      if (member === undefined) throw new Error('there is no such member')
      await member.beat()
      exchange(asking, member)
    }
    return (asking.ledger.clockOffset()?.aheadMs ?? Number.NaN) / HOUR_MS
  }
  const [right, alsoRight, ahead, behind] = [0, 1, 2, 3] as const
  expect(await aheadOf(right, [alsoRight, ahead])).toBeCloseTo(0)
  expect(await aheadOf(right, [alsoRight, behind])).toBeCloseTo(0)
  expect(await aheadOf(right, [ahead, behind])).toBeCloseTo(0)
  expect(await aheadOf(ahead, [right, alsoRight])).toBeCloseTo(1)
  expect(await aheadOf(ahead, [right, behind])).toBeCloseTo(1)
  expect(await aheadOf(behind, [right, ahead])).toBeCloseTo(-1)
})

describe('a clock that was an hour ahead and is right again', () => {
  async function meetAhead() {
    const [ours, theirs] = [createManualClock(), createManualClock()]
    ours.stepWall(HOUR_MS)
    const store = createKeptStore()
    const signer = createNodeSigner(new Uint8Array(32).fill(1))
    const open = () => createLedger({}, { signer, clock: ours, store })
    const first = open()
    await write(first, ours, ['healthcheck', first.self, heartbeatValue(ours.now())])
    await write(first, ours, ['dns', 'name', '{"1":"10.1.0.1"}'])
    const b = createMember(2, theirs)
    const asMember = (ledger: Ledger): Member => ({
      ledger,
      signer,
      events: [],
      told: () => [],
      beat: async () => {},
    })
    exchange(asMember(first), b)
    expect(b.ledger.snapshot().get('dns', 'name')).toBeUndefined()
    return { ours, b, first, open, asMember }
  }

  test('replaces its own entries from the future, and others take them', async () => {
    const { ours, b, first, asMember } = await meetAhead()
    ours.stepWall(-HOUR_MS)
    await b.beat()
    exchange(b, asMember(first))
    await ours.advance(20)
    expect(versionOf(first, 'dns', 'name')).toBeLessThan(BigInt(ours.now() + 1) * 1_000_000n)
    exchange(b, asMember(first))
    expect(b.ledger.snapshot().getLive('dns', 'name')?.owner).toBe(first.self)
    expect(b.ledger.snapshot().isOwnerLive(first.self, ours.now())).toBe(true)
  })

  test('does so after a restart too', async () => {
    const { ours, b, first, open, asMember } = await meetAhead()
    await first.stop()
    ours.stepWall(-HOUR_MS)
    const second = open()
    await b.beat()
    exchange(b, asMember(second))
    await ours.advance(20)
    exchange(b, asMember(second))
    expect(b.ledger.snapshot().getLive('dns', 'name')?.owner).toBe(first.self)
    expect(b.ledger.snapshot().isOwnerLive(first.self, ours.now())).toBe(true)
  })

  test('replaces what it wrote while nothing came from others', async () => {
    const [ours, theirs] = [createManualClock(), createManualClock()]
    const [a, b] = [createMember(1, ours), createMember(2, theirs)]
    await b.beat()
    exchange(a, b)
    ours.stepWall(HOUR_MS)
    await a.beat()
    await write(a.ledger, ours, ['dns', 'name', '{"1":"10.1.0.1"}'])
    ours.stepWall(-HOUR_MS)
    exchange(a, b)
    await ours.advance(20)
    exchange(a, b)
    expect(b.ledger.snapshot().getLive('dns', 'name')?.owner).toBe(a.ledger.self)
  })

  test('gives up what it took from others of that hour, as soon as they say anything of now', async () => {
    const [ours, theirs, right] = [createManualClock(), createManualClock(), createManualClock()]
    ours.stepWall(2 * HOUR_MS)
    theirs.stepWall(HOUR_MS)
    const [a, b, c] = [createMember(1, ours), createMember(2, theirs), createMember(3, right)]
    await b.beat()
    for (const key of ['kept', 'deleted']) await write(b.ledger, theirs, ['dns', key, '{"1":"10.1.0.1"}'])
    await write(b.ledger, theirs, ['notes', 'open', '1'])
    exchange(a, b)
    for (const clock of [ours, theirs]) clock.stepWall(right.now() - clock.now())
    expect(a.told('reconsider')).toHaveLength(0)
    await c.beat()
    const meet = async () => {
      for (const [one, other] of [
        [a, c],
        [b, c],
        [a, b],
      ] as const) {
        exchange(one, other)
        for (const clock of [ours, theirs, right]) await clock.advance(20)
      }
    }
    await meet()
    // what was refused meanwhile for its time may be asked for again
    expect(a.told('reconsider')).toHaveLength(1)
    b.ledger.delete('dns', 'deleted')
    await write(c.ledger, right, ['notes', 'open', '2'])
    await meet()
    await meet()
    for (const { ledger } of [a, b]) {
      for (const [bucket, key] of [
        ['dns', 'kept'],
        ['dns', 'deleted'],
        ['notes', 'open'],
        ['healthcheck', b.ledger.self],
      ] as const) {
        expect([key, versionOf(ledger, bucket, key)]).toEqual([key, versionOf(c.ledger, bucket, key)])
      }
    }
    expect(c.ledger.snapshot().getLive('dns', 'kept')?.owner).toBe(b.ledger.self)
    expect(a.ledger.snapshot().getLive('dns', 'deleted')).toBeUndefined()
    expect(a.ledger.snapshot().getLive('notes', 'open')?.value).toBe('2')
  })

  test('replaces nothing while its clock is ahead, or nobody was heard', async () => {
    const { ours, b, first, asMember } = await meetAhead()
    const version = versionOf(first, 'dns', 'name')
    await b.beat()
    exchange(b, asMember(first))
    await ours.advance(20)
    expect(first.clockOffset()?.aheadMs).toBeGreaterThan(HOUR_MS - 1_000)
    expect(versionOf(first, 'dns', 'name')).toBe(version)
  })
})
