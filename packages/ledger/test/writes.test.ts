import type { StoreBatch } from '../src/state/store.ts'
import { type Logger, silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { createLedger, type LedgerEvent } from '../src/index.ts'
import { createNodeSigner } from '../src/node.ts'
import { versionTag } from '../src/entries/version.ts'
import { MIN_STORE_ROOM_BYTES } from '../src/limits.ts'
import { createMember, createPair, exchange, forge, nanos } from './members.ts'

const caught = (run: () => unknown) => {
  try {
    run()
  } catch (error) {
    return error
  }
  return undefined
}

describe('when a write is committed', () => {
  test('at once when idle, what arrives together in one block, at most 20 ms later otherwise', async () => {
    const clock = createManualClock()
    const { ledger, told } = createMember(1, clock)
    const together = [ledger.put('a', '1', '1'), ledger.put('a', '2', '2'), ledger.put('b', '1', '3')]
    await Promise.all(together.map(({ settled }) => settled))
    expect(told('committed').map(({ changes }) => changes.length)).toEqual([3])
    const later = [ledger.put('a', '3', '3'), ledger.put('a', '4', '4')]
    await clock.advance(19)
    expect(ledger.snapshot().count('a')).toBe(2)
    await clock.advance(1)
    expect(await Promise.all(later.map(({ settled }) => settled))).toEqual([
      { state: 'committed', block: 2 },
      { state: 'committed', block: 2 },
    ])
  })

  test('the last put or delete of a key is what stays; what it replaced is superseded', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    await ledger.put('a', 'warm', '0').settled
    const writes = [
      ledger.put('a', 'k', '1'),
      ledger.put('a', 'k', '2'),
      ledger.delete('a', 'k'),
      ledger.put('a', 'k', '3'),
    ]
    const gone = [ledger.put('a', 'g', '1'), ledger.delete('a', 'g')]
    await clock.advance(20)
    const outcomes = await Promise.all([...writes, ...gone].map(({ settled }) => settled))
    expect(outcomes.map(({ state }) => state)).toEqual([
      'superseded',
      'superseded',
      'committed',
      'committed',
      'superseded',
      'committed',
    ])
    expect(ledger.snapshot().getLive('a', 'k')?.value).toBe('3')
    expect(ledger.snapshot().get('a', 'g')).toBeUndefined()
  })

  test('a delete right after a put does not come back, however long one waits', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    await ledger.put('a', 'k', '1').settled
    await clock.advance(200)
    ledger.delete('a', 'k')
    await clock.advance(60_000)
    expect(ledger.snapshot().getLive('a', 'k')).toBeUndefined()
    expect(clock.pending).toBe(0)
  })

  test('the same live value changes nothing, and keeps its version', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    await ledger.put('a', 'k', '1').settled
    const before = ledger.snapshot()
    await clock.advance(1000)
    expect(await ledger.put('a', 'k', '1').settled).toEqual({ state: 'committed', block: 1 })
    expect(await ledger.delete('a', 'none').settled).toEqual({ state: 'committed', block: 1 })
    expect(ledger.snapshot()).toBe(before)
  })
})

test('versions grow with the time, or by the least step above what is stored, and carry the tag of their writer', async () => {
  const clock = createManualClock()
  const { ledger, signer } = createMember(1, clock)
  await ledger.put('a', 'k', '1').settled
  const first = ledger.snapshot().get('a', 'k')?.version ?? 0n
  expect(first - nanos(clock.now())).toBeLessThan(4096n)
  expect(first & 4095n).toBe(versionTag(signer.peerId))
  const ahead = forge(createNodeSigner(new Uint8Array(32).fill(9)), 'a', 'k', {
    version: nanos(clock.now() + 100_000),
  })
  ledger.merge([ahead], undefined)
  ledger.put('a', 'k', '2')
  await clock.advance(20)
  const next = ledger.snapshot().get('a', 'k')?.version ?? 0n
  expect(next).toBeGreaterThan(ahead.entry.version)
  expect(next - ahead.entry.version).toBeLessThanOrEqual(4096n)
})

describe('a write that the rules refuse says so at once', () => {
  const clock = createManualClock()
  const { ledger } = createMember(1, clock)
  const other = createNodeSigner(new Uint8Array(32).fill(2)).peerId

  test.each([
    ['machines', '10.1.0.1', JSON.stringify({ PeerID: other }), ''],
    ['machines', '10.1.0.1', '{"Hostname":"x"}', ''],
    ['services', 'web', JSON.stringify({ peerid: other }), ''],
    ['routes', '10.2.0.0/24', JSON.stringify({ PeerID: other, Metric: 1 }), ''],
    ['users', other, '{}', other],
    ['egress', other, '"ok"', other],
    ['healthcheck', other, '"2026-01-01T00:00:00Z"', other],
  ])('%s/%s = %s belongs to "%s"', (bucket, key, value, owner) => {
    expect(caught(() => ledger.put(bucket, key, value))).toMatchObject({
      code: 'ledger.not_owner',
      details: { bucket, key, owner },
      hint: expect.any(String),
    })
  })

  test.each([
    ['b'.repeat(257), 'k', '1', 'bucket'],
    ['b', '\u00e9'.repeat(513), '1', 'key'],
    ['b', 'k', `"${'v'.repeat(65_535)}"`, 'value'],
  ])('too large: names field, size and limit', (bucket, key, value, field) => {
    expect(caught(() => ledger.put(bucket, key, value))).toMatchObject({
      code: 'ledger.too_large',
      details: { field, size: expect.any(Number), limit: expect.any(Number) },
    })
  })

  test.each(['', 'v', '{', '"\ud800"'])('the value %j is no JSON', (value) => {
    expect(caught(() => ledger.put('b', 'k', value))).toMatchObject({ code: 'ledger.bad_value' })
  })

  test('the largest that fits is taken', async () => {
    const write = ledger.put('b'.repeat(256), 'k'.repeat(1024), `"${'v'.repeat(65_534)}"`)
    await clock.advance(20)
    expect(await write.settled).toMatchObject({ state: 'committed' })
  })
})

test('a refusal names who holds the key, not whom the value names', async () => {
  const { clock, a, b } = await createPair()
  const third = createNodeSigner(new Uint8Array(32).fill(9)).peerId
  const naming = (peer: string) => JSON.stringify({ PeerID: peer })
  a.ledger.put('machines', '10.1.0.1', naming(a.ledger.self))
  b.ledger.put('machines', '10.1.0.2', naming(b.ledger.self))
  await clock.advance(20)
  exchange(b, a)
  const refusal = (key: string, peer: string) => caught(() => a.ledger.put('machines', key, naming(peer)))
  for (const named of [a.ledger.self, third, '']) {
    expect(refusal('10.1.0.2', named)).toMatchObject({
      code: 'ledger.not_owner',
      message: expect.stringContaining(`belongs to ${b.ledger.self}`),
      details: { owner: b.ledger.self, leaseEndsAt: expect.any(Number) },
    })
  }
  expect(refusal('10.1.0.1', third)).toMatchObject({ details: { owner: a.ledger.self } })
  // an owner that is gone holds nothing any more
  await clock.advance(481_000)
  expect(refusal('10.1.0.2', third)).toMatchObject({ details: { owner: '' } })
})

test('a key that another took while the write waited is refused when its block is made', async () => {
  const { clock, a, b } = await createPair()
  b.ledger.put('dns', 'x', '{"1":"10.1.0.2"}')
  await clock.advance(20)
  await a.ledger.put('warm', 'x', '1').settled
  const write = a.ledger.put('dns', 'x', '{"1":"10.1.0.1"}')
  exchange(b, a)
  await clock.advance(20)
  expect(await write.settled).toMatchObject({
    state: 'refused',
    error: { code: 'ledger.not_owner', details: { owner: b.ledger.self } },
  })
})

test('a bucket is deleted as far as this node may, and says what stays', async () => {
  const { clock, a, b } = await createPair()
  a.ledger.put('dns', 'mine', '{}')
  b.ledger.put('dns', 'theirs', '{}')
  await clock.advance(20)
  exchange(a, b)
  const deletion = a.ledger.deleteBucket('dns')
  expect(deletion).toMatchObject({ refused: [{ key: 'theirs', owner: b.ledger.self }], deleting: 1 })
  await clock.advance(20)
  expect(await deletion.settled).toMatchObject({ state: 'committed' })
  expect(a.ledger.snapshot().count('dns')).toBe(1)
  expect(caught(() => a.ledger.deleteBucket('dns'))).toMatchObject({ code: 'ledger.not_owner' })
  expect(await a.ledger.deleteBucket('none').settled).toMatchObject({ state: 'committed' })
})

test('stop commits what waits, and then nothing is written or taken', async () => {
  const clock = createManualClock()
  const { ledger, signer } = createMember(1, clock)
  await ledger.put('a', '1', '1').settled
  const last = ledger.put('a', '2', '2')
  await ledger.stop()
  await ledger.stop()
  expect(await last.settled).toEqual({ state: 'committed', block: 2 })
  expect(caught(() => ledger.put('a', '3', '3'))).toMatchObject({ code: 'ledger.stopped' })
  expect(ledger.merge([forge(signer, 'a', '4')], undefined).accepted).toBe(0)
  expect(ledger.snapshot().count('a')).toBe(2)
})

test('a store that fails refuses the write, keeps the state, and says it once a minute until it is well', async () => {
  const clock = createManualClock()
  const lines: string[] = []
  let broken = false
  const store = {
    load: () => undefined,
    commit() {
      if (broken) throw new Error('disk full')
    },
    close() {},
  }
  const signer = createNodeSigner(new Uint8Array(32).fill(1))
  const ledger = createLedger({}, { signer, clock, store, logger: recordTo(lines) })
  await ledger.put('a', '1', '1').settled
  expect(ledger.storeFailure()).toBeUndefined()
  const before = ledger.snapshot()
  broken = true
  const write = ledger.put('a', '2', '2')
  expect(ledger.merge([forge(signer, 'a', '3')], undefined).accepted).toBe(0)
  await clock.advance(20)
  expect(await write.settled).toMatchObject({ state: 'refused', error: { code: 'ledger.store_failed' } })
  expect(ledger.snapshot()).toBe(before)
  expect(ledger.storeFailure()).toMatchObject({ message: 'disk full', count: 2 })
  expect(lines).toEqual(['error blocks are not stored'])
  await clock.advance(60_000)
  ledger.merge([forge(signer, 'a', '3')], undefined)
  ledger.merge([forge(signer, 'a', '3')], undefined)
  expect(lines).toEqual(['error blocks are not stored', 'error blocks are not stored'])
  broken = false
  expect(ledger.merge([forge(signer, 'a', '3')], undefined).accepted).toBe(1)
  expect(ledger.storeFailure()).toBeUndefined()
  expect(lines.at(-1)).toBe('info blocks are stored again')
  await ledger.stop()
  expect(clock.pending).toBe(0)
})

test('a store that takes something again is noticed without a write, and tells that others may be asked', async () => {
  const clock = createManualClock()
  const lines: string[] = []
  let broken = false
  const heads: string[] = []
  const store = {
    load: () => undefined,
    commit({ head }: StoreBatch) {
      if (broken) throw new Error('disk full')
      heads.push(head.hash)
    },
    close() {},
  }
  const signer = createNodeSigner(new Uint8Array(32).fill(1))
  const ledger = createLedger({}, { signer, clock, store, logger: recordTo(lines) })
  const told: string[] = []
  ledger.subscribe(({ type }) => told.push(type))
  await ledger.put('a', '1', '1').settled
  for (let times = 0; times < 3; times++) {
    broken = true
    ledger.merge([forge(signer, 'a', '2')], undefined)
    await clock.advance(5_000)
    expect(ledger.storeFailure()).toMatchObject({ message: 'disk full', count: 1 })
    broken = false
    await clock.advance(2_000)
    expect(ledger.storeFailure()).toBeUndefined()
  }
  // what stood there was written again, and the log is as short as ever
  expect(new Set(heads).size).toBe(1)
  expect(told.filter((type) => type === 'reconsider')).toHaveLength(3)
  expect(lines).toEqual(['error blocks are not stored', 'info blocks are stored again'])
  broken = true
  ledger.merge([forge(signer, 'a', '2')], undefined)
  await ledger.stop()
  expect(clock.pending).toBe(0)
})

test('a store with room for a small batch and not for the one that it refused is not well yet', async () => {
  const clock = createManualClock()
  let room = Number.POSITIVE_INFINITY
  const store = {
    load: () => undefined,
    commit({ puts }: StoreBatch) {
      if (puts.some(({ entry }) => entry.value.length > room)) throw new Error('disk full')
    },
    hasRoomFor: (bytes: number) => bytes <= room,
    close() {},
  }
  const signer = createNodeSigner(new Uint8Array(32).fill(1))
  const ledger = createLedger({}, { signer, clock, store })
  const long = JSON.stringify('x'.repeat(1_000))
  room = 100
  ledger.merge([forge(signer, 'a', '1', { value: long })], undefined)
  expect(ledger.storeFailure()).toMatchObject({ message: 'disk full' })
  expect(ledger.merge([forge(signer, 'a', '2')], undefined).accepted).toBe(1)
  await clock.advance(60_000)
  expect(ledger.storeFailure()).toMatchObject({ message: 'disk full' })
  room = MIN_STORE_ROOM_BYTES
  await clock.advance(2_000)
  expect(ledger.storeFailure()).toBeUndefined()
  await ledger.stop()
  expect(clock.pending).toBe(0)
})

test('events come in order, also for writes made by a listener, and a failing listener harms no other', async () => {
  const clock = createManualClock()
  const signer = createNodeSigner(new Uint8Array(32).fill(1))
  const ledger = createLedger({}, { signer, clock })
  const blocks: number[] = []
  ledger.subscribe(() => {
    throw new Error('a listener fails')
  })
  ledger.subscribe((event: LedgerEvent) => {
    if (event.type === 'committed' && event.head.index < 3) ledger.put('a', `k${event.head.index}`, '1')
  })
  const end = ledger.subscribe((event) => {
    if (event.type === 'committed') blocks.push(event.head.index)
  })
  ledger.put('a', 'k', '1')
  await clock.advance(100)
  expect(blocks).toEqual([1, 2, 3])
  end()
  ledger.put('a', 'l', '1')
  await clock.advance(100)
  expect(blocks).toEqual([1, 2, 3])
})

test('a block names the one before it, and its hash covers the digest', async () => {
  const { hashByDigest } = await import('../src/index.ts')
  const { ledger } = createMember(1, createManualClock())
  const genesis = ledger.snapshot().head
  await ledger.put('a', 'k', '1').settled
  const { head } = ledger.snapshot()
  expect(head).toMatchObject({ index: 1, prevHash: genesis.hash })
  expect(head.hash).toBe(hashByDigest(head, ledger.snapshot().digest().digest))
})

describe('while claims are held', () => {
  test('owned buckets wait, the last write of a key is what stays, and open buckets go on', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    ledger.holdClaims()
    const writes = [
      ledger.put('dns', 'x', '{"1":"10.1.0.1"}'),
      ledger.put('dns', 'x', '{"1":"10.1.0.2"}'),
      ledger.put('users', ledger.self, '{}'),
      ledger.delete('users', ledger.self),
    ]
    expect(await ledger.put('notes', 'a', '1').settled).toEqual({ state: 'committed', block: 1 })
    await clock.advance(60_000)
    expect(ledger.snapshot().head.index).toBe(1)
    expect(clock.pending).toBe(0)
    ledger.releaseClaims()
    ledger.releaseClaims()
    expect(await Promise.all(writes.map(({ settled }) => settled))).toEqual([
      { state: 'superseded' },
      { state: 'committed', block: 2 },
      { state: 'superseded' },
      { state: 'committed', block: 2 },
    ])
    expect(ledger.snapshot().getLive('dns', 'x')?.value).toBe('{"1":"10.1.0.2"}')
    await clock.advance(20)
    expect(await ledger.put('dns', 'y', '{}').settled).toEqual({ state: 'committed', block: 3 })
  })

  test('a write that waited already is superseded by a held one', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    await ledger.put('warm', 'x', '1').settled
    const first = ledger.put('dns', 'x', '{"1":"10.1.0.1"}')
    ledger.holdClaims()
    const second = ledger.put('dns', 'x', '{"1":"10.1.0.2"}')
    await clock.advance(20)
    expect(await first.settled).toEqual({ state: 'superseded' })
    expect(ledger.snapshot().getLive('dns', 'x')).toBeUndefined()
    ledger.releaseClaims()
    expect(await second.settled).toMatchObject({ state: 'committed' })
  })

  test('what is refused already is refused at once, and the rest judged again when they are released', async () => {
    const { clock, a, b } = await createPair()
    b.ledger.put('dns', 'early', '{}')
    await clock.advance(20)
    exchange(a, b)
    a.ledger.holdClaims()
    expect(caught(() => a.ledger.put('dns', 'early', '{"1":"10.1.0.1"}'))).toMatchObject({
      code: 'ledger.not_owner',
    })
    const [late, free] = [a.ledger.put('dns', 'late', '{"1":"10.1.0.1"}'), a.ledger.put('dns', 'free', '{}')]
    const gone = a.ledger.delete('dns', 'unseen')
    b.ledger.put('dns', 'late', '{}')
    b.ledger.put('dns', 'unseen', '{}')
    await clock.advance(20)
    exchange(a, b)
    expect(a.told('conflict')).toEqual([])
    a.ledger.releaseClaims()
    await clock.advance(20)
    const refused = {
      state: 'refused',
      error: { code: 'ledger.not_owner', details: { owner: b.ledger.self } },
    }
    expect(await late.settled).toMatchObject(refused)
    expect(await gone.settled).toMatchObject(refused)
    expect(await free.settled).toMatchObject({ state: 'committed' })
    expect(a.ledger.snapshot().getLive('dns', 'late')?.owner).toBe(b.ledger.self)
  })

  test('a claim of what this node thinks it still has is no exception', async () => {
    const { clock, a, b } = await createPair()
    a.ledger.put('dns', 'x', '{}')
    await clock.advance(20)
    exchange(a, b)
    await clock.advance(480_000)
    await b.beat()
    await b.ledger.put('dns', 'x', '{"1":"10.1.0.2"}').settled
    a.ledger.holdClaims()
    const again = a.ledger.put('dns', 'x', '{}')
    exchange(a, b)
    a.ledger.releaseClaims()
    expect(await again.settled).toMatchObject({ state: 'refused', error: { code: 'ledger.not_owner' } })
  })

  test('a bucket is deleted with what is held of it', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    await ledger.put('dns', 'old', '{}').settled
    ledger.holdClaims()
    const held = ledger.put('dns', 'new', '{}')
    const deletion = ledger.deleteBucket('dns')
    expect(deletion).toMatchObject({ refused: [], deleting: 1 })
    ledger.releaseClaims()
    await clock.advance(20)
    expect(await held.settled).toEqual({ state: 'superseded' })
    expect(await deletion.settled).toMatchObject({ state: 'committed' })
    expect(ledger.snapshot().count('dns')).toBe(0)
  })

  test('mode observe holds too; mode off, which knows no owners, does not', async () => {
    for (const mode of ['observe', 'off'] as const) {
      const clock = createManualClock()
      const { ledger } = createMember(1, clock, { mode })
      ledger.holdClaims()
      ledger.put('dns', 'x', '{}')
      await clock.advance(20)
      expect(ledger.snapshot().count('dns')).toBe(mode === 'off' ? 1 : 0)
      ledger.releaseClaims()
      await clock.advance(20)
      expect(ledger.snapshot().count('dns')).toBe(1)
    }
  })

  test('stop commits what waits and refuses what is held', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    await ledger.put('warm', 'x', '1').settled
    ledger.holdClaims()
    const [held, last] = [ledger.put('dns', 'x', '{}'), ledger.put('notes', 'a', '1')]
    await ledger.stop()
    expect(await held.settled).toMatchObject({ state: 'refused', error: { code: 'ledger.stopped' } })
    expect(await last.settled).toEqual({ state: 'committed', block: 2 })
    ledger.releaseClaims()
    await clock.advance(20)
    expect(ledger.snapshot().count('dns')).toBe(0)
  })
})

/** Notes level and message of what is logged above debug. */
function recordTo(lines: string[]): Logger {
  const note = (level: string) => (message: string) => void lines.push(`${level} ${message}`)
  const logger: Logger = {
    ...silentLogger,
    info: note('info'),
    warn: note('warn'),
    error: note('error'),
    child: () => logger,
  }
  return logger
}
