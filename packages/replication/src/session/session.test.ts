import type { KeyedEntry } from '@mesh/ledger'
import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import {
  answerOf,
  createTwinLedger,
  createTwinSession,
  hashTwin,
  reconcileTwins,
  twinEntry,
  type TwinLedger,
} from '../../test/twin-ledger.ts'
import { LEAF_ENTRIES, MAX_SESSION_MESSAGES, MAX_SYNC_MESSAGE_BYTES } from '../limits.ts'
import { shortHashOf } from './short-hash.ts'
import type { SyncMessage } from './sync-message.ts'
import { encodeSyncMessage } from './sync-message-codec.ts'

const silent: SyncMessage = { ranges: [], lists: [], wants: [], entries: [], refused: [], more: false }
const hello = { size: 10, digest: new Uint8Array(16), heartbeats: new Uint8Array(16) }

function numbered(count: number, bucket = 'notes'): KeyedEntry[] {
  return Array.from({ length: count }, (_, at) => ({
    bucket,
    key: `key-${String(at).padStart(6, '0')}`,
    entry: twinEntry(1n, `"value ${at}"`),
  }))
}

function digestOf(twin: TwinLedger): string {
  return twin.snapshot().digest().digest
}

describe('a session between ledgers', () => {
  it('of equal ledgers is two small messages', () => {
    const entries = numbered(1000)
    const seen = reconcileTwins(createTwinLedger(entries), createTwinLedger(entries))
    expect(seen).toMatchObject({ messages: 2, entriesSent: 0, fault: undefined })
    expect(seen.bytes).toBeLessThan(120)
  })

  it('fills an empty ledger from either side', () => {
    for (const emptyFirst of [true, false]) {
      const empty = createTwinLedger()
      const full = createTwinLedger(numbered(5000))
      const seen = emptyFirst ? reconcileTwins(empty, full) : reconcileTwins(full, empty)
      expect(seen).toMatchObject({ entriesSent: 5000, fault: undefined })
      expect(digestOf(empty)).toBe(digestOf(full))
    }
  })

  it('of 100,000 entries that differ in 10 costs a few messages and some 50 kB', { timeout: 120_000 }, () => {
    const entries = numbered(100_000)
    const a = createTwinLedger(entries)
    const b = createTwinLedger(entries)
    for (let at = 0; at < 5; at++) {
      a.put('notes', `key-${String(at * 19_999).padStart(6, '0')}`, twinEntry(2n))
      b.put('notes', `key-${String(at * 17_777 + 5).padStart(6, '0')}`, twinEntry(2n))
    }
    const seen = reconcileTwins(a, b)
    expect(digestOf(a)).toBe(digestOf(b))
    expect(seen).toMatchObject({ entriesSent: 10, fault: undefined })
    expect(seen.messages).toBeLessThanOrEqual(8)
    expect(seen.bytes).toBeLessThan(60_000)
  })

  it('of 20,000 entries each and none in common moves all both ways within the bounds', () => {
    const a = createTwinLedger(numbered(20_000, 'a'))
    const interleaved = numbered(20_000, 'a').map((keyed) => ({ ...keyed, key: `${keyed.key}+` }))
    const b = createTwinLedger(interleaved)
    const seen = reconcileTwins(a, b)
    expect(digestOf(a)).toBe(digestOf(b))
    expect(seen).toMatchObject({ entriesSent: 40_000, fault: undefined })
    expect(seen.longestMessage).toBeLessThan(MAX_SYNC_MESSAGE_BYTES)
    expect(seen.messages).toBeLessThan(400)
  })

  it('makes any two ledgers equal, whatever they hold', () => {
    const text = fc.string({ unit: 'grapheme', maxLength: 6 }).filter((part) => part.isWellFormed())
    const entry = fc.record({ bucket: text, key: text, version: fc.bigInt({ min: 1n, max: 5n }) })
    const ledger = fc.array(entry, { maxLength: 120 })
    fc.assert(
      fc.property(ledger, ledger, ledger, (common, left, right) => {
        const make = (entries: typeof common) => {
          const twin = createTwinLedger()
          for (const { bucket, key, version } of entries) {
            const held = twin.snapshot().get(bucket, key)
            if (held === undefined || held.version < version) twin.put(bucket, key, twinEntry(version))
          }
          return twin
        }
        const a = make([...common, ...left])
        const b = make([...common, ...right])
        expect(reconcileTwins(a, b).fault).toBeUndefined()
        expect(digestOf(a)).toBe(digestOf(b))
      }),
      { numRuns: 60 },
    )
  })

  it('shows both sides the other state of a key where one is from the future, and else the newer one alone', () => {
    const ahead = 10n ** 15n
    const sentFor = (version: bigint) => {
      const [older, newer] = [createTwinLedger(), createTwinLedger()]
      older.put('notes', 'a', twinEntry(1n))
      newer.put('notes', 'a', twinEntry(version))
      older.refuse = ({ entry }) => (entry.version === ahead ? 'FUTURE' : undefined)
      return [reconcileTwins(older, newer), reconcileTwins(newer, older)].map(
        ({ entriesSent }) => entriesSent,
      )
    }
    expect(sentFor(2n)).toEqual([1, 0])
    // once: what was refused is remembered on both sides
    expect(sentFor(ahead)).toEqual([2, 0])
  })

  it('compares heartbeats alone when nothing else differs', () => {
    const entries = numbered(2000)
    const a = createTwinLedger(entries)
    const b = createTwinLedger(entries)
    for (const twin of [a, b]) twin.put('healthcheck', 'peer', twinEntry(1n))
    a.put('healthcheck', 'peer', twinEntry(2n))
    const seen = reconcileTwins(a, b)
    expect(seen).toMatchObject({ entriesSent: 1, fault: undefined })
    expect(seen.bytes).toBeLessThan(400)
    expect(b.snapshot().get('healthcheck', 'peer')?.version).toBe(2n)
  })

  it('sends a tombstone to anyone who holds what it ends, and to nobody else', () => {
    const ended = { ...twinEntry(2n, ''), deleted: true }
    const a = createTwinLedger(numbered(3))
    a.put('notes', 'key-000000', ended)
    a.put('notes', 'gone', ended)
    const b = createTwinLedger(numbered(3))
    expect(reconcileTwins(b, a)).toMatchObject({ entriesSent: 1, fault: undefined })
    expect(b.snapshot().get('notes', 'key-000000')?.deleted).toBe(true)
    expect(b.snapshot().get('notes', 'gone')).toBeUndefined()
  })

  it('shows both sides of a key that two owners hold, even the lower version', () => {
    const a = createTwinLedger([{ bucket: 'machines', key: '10.1.0.1', entry: twinEntry(1n, '1', 'anna') }])
    const b = createTwinLedger([{ bucket: 'machines', key: '10.1.0.1', entry: twinEntry(9n, '2', 'bert') }])
    for (const twin of [a, b]) twin.refuse = () => 'NOT_OWNER'
    expect(reconcileTwins(a, b)).toMatchObject({ entriesSent: 2, fault: undefined })
  })

  it('does not ask again for what it refused, nor send what was refused there', () => {
    const a = createTwinLedger(numbered(300))
    const b = createTwinLedger(numbered(300, 'other'))
    for (const twin of [a, b]) twin.refuse = () => 'BAD_SIG'
    expect(reconcileTwins(a, b).entriesSent).toBe(600)
    expect(reconcileTwins(a, b)).toMatchObject({ entriesSent: 0, fault: undefined })
    expect(reconcileTwins(b, a)).toMatchObject({ entriesSent: 0, fault: undefined })
  })

  it('ends at once when a session in this state already ended in vain', () => {
    const twin = createTwinLedger(numbered(10))
    const withDifference = createTwinSession(twin, 'responder')
    withDifference.receive({ ...silent, hello })
    expect(answerOf(withDifference)?.lists).toHaveLength(1)
    const alike = createTwinSession(twin, 'responder', () => true)
    alike.receive({ ...silent, hello })
    expect(answerOf(alike)).toMatchObject({ lists: [], ranges: [], more: false })
    expect(alike.done).toBe(true)
  })
})

describe('a session with a hostile remote', () => {
  const responder = (count = 100) => {
    const session = createTwinSession(createTwinLedger(numbered(count)), 'responder')
    session.receive({ ...silent, hello })
    answerOf(session)
    return session
  }

  it.each<[string, Partial<SyncMessage>]>([
    ['a range that ends before it begins', { ranges: [range({ from: 'b', to: 'a' })] }],
    ['a fingerprint of another length', { ranges: [{ ...range({}), fingerprint: new Uint8Array(5) }] }],
    ['a name over its bound', { wants: [{ bucket: 'x'.repeat(300), key: '' }] }],
    ['more ranges than fit', { ranges: Array.from({ length: 513 }, () => range({})) }],
    ['ranges that overlap', { ranges: [range({ to: 'm' }), range({ from: 'l' })] }],
    ['one range twice', { ranges: [range({ from: 'l', to: 'm' }), range({ from: 'l', to: 'm' })] }],
    ['a list within a range', { ranges: [range({})], lists: [list(['a'])] }],
    ['a list out of order', { lists: [list(['b', 'a'])] }],
    ['a list that names one key twice', { lists: [list(['a', 'a'])] }],
    ['a list beyond its range', { lists: [{ ...list(['z']), to: { bucket: 'notes', key: 'y' } }] }],
  ])('gives up at %s', (_, message) => {
    const session = responder()
    session.receive({ ...silent, ...message })
    expect(session).toMatchObject({ fault: 'malformed', done: true })
    expect(answerOf(session)).toBeUndefined()
  })

  it('gives up when the first message has no greeting', () => {
    const session = createTwinSession(createTwinLedger(), 'responder')
    session.receive(silent)
    expect(session.fault).toBe('malformed')
  })

  it('gives up when messages say more and bring nothing', () => {
    const session = responder()
    let messages = 0
    while (session.fault === undefined && ++messages < 100) {
      session.receive({ ...silent, more: true })
      answerOf(session)
    }
    expect(session.fault).toBe('no_progress')
    expect(messages).toBeLessThan(10)
  })

  it.each<[string, Partial<SyncMessage>]>([
    ['the same question', { ranges: [range({})] }],
    ['the same wish', { wants: [{ bucket: 'notes', key: 'key-000001' }] }],
    ['the same list', { lists: [list(['a'])] }],
    ['entries that nobody lacks', { entries: numbered(1) }],
  ])('gives up when %s comes without end, soon', (_, message) => {
    const session = responder()
    let bytes = 0
    while (session.fault === undefined) {
      session.receive({ ...silent, ...message })
      const answer = answerOf(session)
      if (answer !== undefined) bytes += encodeSyncMessage(answer).length
    }
    expect(session.fault).toBe('endless')
    expect(session.messages).toBeLessThan(MAX_SESSION_MESSAGES)
    expect(bytes).toBeLessThan(1_000_000)
  })

  it('takes ranges that do not overlap in any order', () => {
    const session = responder()
    session.receive({
      ...silent,
      ranges: [range({ from: 'm' }), range({ to: 'l' }), range({ from: 'l', to: 'm' })],
    })
    expect(session.fault).toBeUndefined()
  })

  it('charges what it looks at, and lets other work have its turn meanwhile', () => {
    const twin = createTwinLedger(
      numbered(20_000).map((keyed) => ({ ...keyed, entry: { ...keyed.entry, deleted: true } })),
    )
    const session = createTwinSession(twin, 'responder')
    session.receive({ ...silent, hello: { ...hello, size: 20_000 } })
    answerOf(session)
    let pauses = 0
    for (let messages = 0; session.fault === undefined; messages++) {
      expect(messages).toBeLessThan(6)
      session.receive({ ...silent, ranges: [{ ...range({}), count: 0 }], more: true })
      const steps = session.answering([])
      while (steps.next().done !== true) pauses++
    }
    expect(session.fault).toBe('endless')
    expect(pauses).toBeGreaterThan(100)
  })

  it('believes no claimed size beyond what a ledger may hold', () => {
    const session = createTwinSession(createTwinLedger(), 'responder')
    session.receive({ ...silent, hello: { ...hello, size: 4_000_000_000 } })
    answerOf(session)
    const entries = numbered(10_000)
    let taken = 0
    while (session.fault === undefined) {
      taken += session.receive({ ...silent, entries }).entries.length
      answerOf(session)
    }
    expect(taken).toBeLessThanOrEqual(210_000)
  })
})

it('reads an entry’s hash from a range with just that entry', () => {
  const [keyed] = numbered(1)
  if (keyed === undefined) throw new Error('unreachable')
  const snapshot = createTwinLedger([...numbered(40), keyed]).snapshot()
  expect(shortHashOf(snapshot, keyed)).toEqual(hashTwin(keyed).subarray(0, 16))
  expect(LEAF_ENTRIES).toBeLessThan(40)
})

function range({ from, to }: { from?: string; to?: string }) {
  return {
    from: from === undefined ? undefined : { bucket: 'notes', key: from },
    to: to === undefined ? undefined : { bucket: 'notes', key: to },
    count: 5,
    fingerprint: new Uint8Array(32),
  }
}

function list(keys: readonly string[]) {
  const items = keys.map((key) => ({
    bucket: 'notes',
    key,
    version: 1n,
    hash: new Uint8Array(16),
    ownerTag: 0,
    deleted: false,
  }))
  return { from: undefined, to: undefined, items }
}
