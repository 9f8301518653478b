import { heartbeatValue } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { defaultPolicies, type Entry, ownedBySigner } from '../src/index.ts'
import { createNodeSigner } from '../src/node.ts'
import { createMember, createPair, exchange, forge, nanos, send } from './members.ts'

const stranger = createNodeSigner(new Uint8Array(32).fill(99))
const codes = ({ rejected }: { rejected: readonly { code: string }[] }) => rejected.map(({ code }) => code)
const record = (peerId: string) => JSON.stringify({ PeerID: peerId })

describe('what is from the future', () => {
  test.each<[string, string, string, Partial<Entry>]>([
    ['a version', 'notes', 'k', { version: nanos(Date.UTC(2026, 0, 1) + 121_000) }],
    ['the greatest version', 'notes', 'k', { version: 2n ** 64n - 1n }],
    ['an UpdatedAt', 'notes', 'k', { updatedAt: Date.UTC(2026, 0, 1) / 1000 + 121 }],
    [
      'a heartbeat',
      'healthcheck',
      stranger.peerId,
      { value: heartbeatValue(Date.UTC(2026, 0, 1) + 121_000) },
    ],
    ['a heartbeat of 2100', 'healthcheck', stranger.peerId, { value: '"2100-01-01T00:00:00Z"' }],
  ])('%s is refused now and taken when its time has come', async (_name, bucket, key, fields) => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    const keyed = forge(stranger, bucket, key, fields)
    expect(codes(ledger.merge([keyed], undefined))).toEqual(['FUTURE'])
    expect(ledger.snapshot().size).toBe(0)
    expect(ledger.rejections()).toEqual({ FUTURE: 1 })
    const waitMs = fields.version === 2n ** 64n - 1n || key === stranger.peerId ? 0 : 2000
    await clock.advance(waitMs)
    expect(ledger.merge([keyed], undefined).accepted).toBe(waitMs === 0 ? 0 : 1)
  })

  test('119 seconds ahead is a clock that differs', () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock)
    const fields = { version: nanos(clock.now() + 119_000), updatedAt: clock.now() / 1000 + 119 }
    expect(ledger.merge([forge(stranger, 'notes', 'k', fields)], undefined).accepted).toBe(1)
  })
})

describe('open buckets', () => {
  test('a forged signature is refused, which legacy members do not look at', () => {
    const { ledger } = createMember(1, createManualClock())
    const forged = forge(stranger, 'notes', 'k', { sig: new Uint8Array(64).fill(1) })
    const unsigned = { ...forged, entry: { ...forged.entry, sig: null } }
    const short = forge(stranger, 'notes', 'k', { sig: new Uint8Array(63) })
    expect(codes(ledger.merge([forged, unsigned, short], undefined))).toEqual([
      'BAD_SIG',
      'BAD_SIG',
      'BAD_SIG',
    ])
  })

  test('ids in other forms never sign', () => {
    const { ledger } = createMember(1, createManualClock())
    const owner = 'bafzaajaiaejcaklmvyg4rmpj3l2t5vvtgr4xqnlo2xpvsjmgcwx2jqfzd5xoabmu'
    expect(codes(ledger.merge([forge(stranger, 'notes', 'k', { owner })], undefined))).toEqual(['BAD_SIG'])
  })

  test('unsigned entries are taken as the first value only, and never as newer', () => {
    const { ledger, signer } = createMember(1, createManualClock())
    const bare = { value: '"v"', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }
    const at = { bucket: 'notes', key: 'k' }
    expect(ledger.merge([{ ...at, entry: bare }], undefined).accepted).toBe(1)
    expect(codes(ledger.merge([{ ...at, entry: { ...bare, version: 5n } }], undefined))).toEqual(['BAD_SIG'])
    expect(
      codes(ledger.merge([{ ...at, entry: { ...bare, deleted: true, version: 5n } }], undefined)),
    ).toEqual(['BAD_SIG'])
    expect(ledger.merge([forge(signer, 'notes', 'k')], undefined).accepted).toBe(1)
  })

  test('two values of one version end the same on all nodes, whichever came first', () => {
    const rows = [
      forge(stranger, 'notes', 'k', { value: '1' }),
      forge(stranger, 'notes', 'k', { value: '2' }),
    ]
    const digests = [rows, rows.toReversed()].map((order) => {
      const { ledger } = createMember(1, createManualClock())
      ledger.merge(order, undefined)
      return ledger.snapshot().digest()
    })
    expect(digests[0]).toEqual(digests[1])
  })
})

describe('replays', () => {
  test('an old entry of the same owner is refused without a verification', async () => {
    const { clock, a, b } = await createPair()
    a.ledger.put('dns', 'x', '{"1":"10.1.0.1"}')
    await clock.advance(20)
    const old = [...a.ledger.snapshot().entries('dns')]
    a.ledger.put('dns', 'x', '{"1":"10.1.0.2"}')
    await clock.advance(20)
    exchange(a, b)
    expect(codes(b.ledger.merge(old, undefined))).toEqual(['ROLLBACK'])
    expect(b.ledger.snapshot().getLive('dns', 'x')?.value).toBe('{"1":"10.1.0.2"}')
  })

  test('a tombstone keeps what it ended away, also after it was collected; a newer claim is taken', async () => {
    const { clock, a, b } = await createPair()
    a.ledger.put('dns', 'x', '{}')
    await clock.advance(20)
    const old = [...a.ledger.snapshot().entries('dns')]
    exchange(a, b)
    a.ledger.delete('dns', 'x')
    await clock.advance(20)
    exchange(a, b)
    expect(codes(b.ledger.merge(old, undefined))).toEqual(['RECLAIM_STALE'])
    await clock.advance(2_701_000)
    expect(b.ledger.reap().collected).toBe(1)
    expect(b.ledger.snapshot().get('dns', 'x')).toBeUndefined()
    expect(codes(b.ledger.merge(old, a.ledger.self))).toEqual(['REPLAYED'])
    expect(codes(b.ledger.merge(a.ledger.snapshot().entries('dns'), a.ledger.self))).toEqual(['TOMB_UNKNOWN'])
    expect(a.ledger.reap().collected).toBe(1)
    a.ledger.put('dns', 'x', '{}')
    await clock.advance(20)
    expect(send(a, b, 'dns', 'x').accepted).toBe(1)
  })

  test('the memory of collected tombstones is bounded, the oldest go first', async () => {
    const clock = createManualClock()
    const init = { tombstoneTtlMs: 0, limits: { maxRememberedTombstones: 2 } }
    const { ledger } = createMember(1, clock, init)
    const old = []
    for (const key of ['a', 'b', 'c']) {
      ledger.put('notes', key, '1')
      await clock.advance(20)
      old.push(...[...ledger.snapshot().entries('notes')].filter((row) => row.key === key))
      ledger.delete('notes', key)
      await clock.advance(2000)
      ledger.reap()
    }
    const { accepted, rejected } = ledger.merge(old, undefined)
    expect(accepted).toBe(1)
    expect(rejected.map(({ key, code }) => `${key} ${code}`)).toEqual(['b REPLAYED', 'c REPLAYED'])
  })
})

describe('bounds', () => {
  test.each<[string, string, string, Partial<Entry>]>([
    ['TOO_LARGE', 'b'.repeat(257), 'k', {}],
    ['TOO_LARGE', 'b', '\u00e9'.repeat(513), {}],
    ['TOO_LARGE', 'b', 'k', { value: `"${'v'.repeat(65_535)}"` }],
    ['TOO_LARGE', 'b', 'k', { owner: 'o'.repeat(129) }],
    ['MALFORMED', 'b', '\ud800', {}],
    ['MALFORMED', 'b', 'k', { version: 2n ** 64n + 1n }],
    ['MALFORMED', 'b', 'k', { version: -1n }],
    ['MALFORMED', 'b', 'k', { updatedAt: 0.5, sig: new Uint8Array(64) }],
    ['MALFORMED', 'b', 'k', { sig: new Uint8Array(65) }],
  ])('%s, also when it comes outside a block', (code, bucket, key, fields) => {
    for (const mode of ['enforce', 'observe'] as const) {
      const { ledger } = createMember(1, createManualClock(), { mode })
      expect(codes(ledger.merge([forge(stranger, bucket, key, fields)], undefined))).toEqual([code])
      expect(ledger.snapshot().size).toBe(0)
    }
  })

  test('each signer and the unsigned have their share, of which the oldest goes first', () => {
    const limits = { maxEntries: 16, maxSignerEntries: 3, maxUnsignedEntries: 2 }
    const { ledger } = createMember(1, createManualClock(), { limits })
    const bare = { value: '1', owner: '', version: 0n, updatedAt: 0, deleted: false, sig: null }
    const keys = ['a', 'b', 'c', 'd']
    const held = (bucket: string) => [...ledger.snapshot().entries(bucket)].map(({ key }) => key)
    ledger.merge(
      keys.map((key) => ({ bucket: 'open', key, entry: { ...bare } })),
      undefined,
    )
    expect(held('open')).toEqual(['c', 'd'])
    const signed = keys.map((key, at) => forge(stranger, 'notes', key, { version: BigInt(9 - at) }))
    expect(codes(ledger.merge(signed, undefined))).toEqual(['QUOTA'])
    expect(held('notes')).toEqual(['a', 'b', 'c'])
    expect(ledger.merge([forge(stranger, 'notes', 'd', { version: 20n })], undefined).accepted).toBe(1)
    expect(held('notes')).toEqual(['a', 'b', 'd'])
  })

  test('a local write over the limit says so', async () => {
    const clock = createManualClock()
    const { ledger } = createMember(1, clock, { limits: { maxSignerEntries: 1 } })
    await ledger.put('a', 'b', '1').settled
    const second = ledger.put('a', 'c', '1')
    await clock.advance(20)
    expect(await second.settled).toMatchObject({ state: 'refused', error: { code: 'ledger.over_quota' } })
  })

  test('bytes count too', () => {
    const { ledger } = createMember(1, createManualClock(), { limits: { maxSignerBytes: 1000 } })
    const big = forge(stranger, 'notes', 'a', { value: JSON.stringify('x'.repeat(2000)) })
    expect(codes(ledger.merge([big], undefined))).toEqual(['QUOTA'])
  })
})

describe('modes', () => {
  test('observe counts what enforce refuses, stores it, but no rollback', async () => {
    const { clock, a, b } = await createPair({ mode: 'observe' })
    a.ledger.put('machines', '10.1.0.1', record(a.ledger.self))
    await clock.advance(20)
    exchange(a, b)
    const rival = forge(stranger, 'machines', '10.1.0.1', {
      value: record(stranger.peerId),
      version: nanos(clock.now() + 5000),
    })
    expect(b.ledger.merge([rival], undefined)).toMatchObject({
      accepted: 1,
      rejected: [{ code: 'NOT_OWNER' }],
    })
    expect(b.ledger.snapshot().get('machines', '10.1.0.1')?.owner).toBe(stranger.peerId)
    expect(send(a, b, 'machines', '10.1.0.1').accepted).toBe(0)
    expect(b.ledger.snapshot().get('machines', '10.1.0.1')?.owner).toBe(stranger.peerId)
    expect(
      codes(b.ledger.merge([forge(stranger, 'notes', 'k', { version: 2n ** 64n - 1n })], undefined)),
    ).toEqual(['FUTURE'])
  })

  test('off takes the block with the greater index whole, deletes included', async () => {
    const clock = createManualClock()
    const [a, b] = [createMember(1, clock, { mode: 'off' }), createMember(2, clock, { mode: 'off' })]
    const wire = async (from: typeof a, to: typeof a) => {
      const { encodeBlock } = await import('../src/index.ts')
      const snapshot = from.ledger.snapshot()
      return to.ledger.receiveBlock(encodeBlock(snapshot.entries(), snapshot.head), from.ledger.self)
    }
    a.ledger.put('b', 'k', '"v"')
    a.ledger.put('b', 'l', '"w"')
    await clock.advance(20)
    expect((await wire(a, b)).accepted).toBe(2)
    expect(b.ledger.snapshot().head).toEqual(a.ledger.snapshot().head)
    a.ledger.delete('b', 'k')
    await clock.advance(20)
    expect((await wire(a, b)).accepted).toBe(1)
    expect(b.ledger.snapshot().size).toBe(1)
    expect((await wire(a, b)).accepted).toBe(0)
    expect(b.ledger.snapshot().isOwnerLive('anyone', clock.now())).toBe(true)
  })
})

test('entries of owners that the gate keeps out are refused in every bucket', async () => {
  const clock = createManualClock()
  const { createLedger } = await import('../src/index.ts')
  const signer = createNodeSigner(new Uint8Array(32).fill(1))
  const ledger = createLedger({}, { signer, clock, admits: (owner) => owner !== stranger.peerId })
  const rows = [forge(stranger, 'notes', 'k'), forge(stranger, 'dns', 'k'), forge(signer, 'notes', 'l')]
  expect(codes(ledger.merge(rows, undefined))).toEqual(['GATED', 'GATED'])
  expect(ledger.snapshot().size).toBe(1)
})

test('a bucket of the caller has its own policy', async () => {
  const policies = { ...defaultPolicies, tasks: { ...ownedBySigner, expiry: 'never' as const } }
  const { clock, a, b } = await createPair({ policies })
  a.ledger.put('tasks', 't', '1')
  await clock.advance(20)
  exchange(a, b)
  await clock.advance(10_000_000)
  expect(() => b.ledger.put('tasks', 't', '2')).toThrow(expect.objectContaining({ code: 'ledger.not_owner' }))
})
