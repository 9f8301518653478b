import { createManualClock, type ManualClock } from '@mesh/testkit'
import { describe, expect, test } from 'vitest'
import { encodeBlock } from '../src/index.ts'
import { createMember, type Member } from './members.ts'

/** Longer than a write waits until it is repeated. */
const REPEATED_MS = 800

function createMembers() {
  const clock = createManualClock()
  const [a, b, c] = [1, 2, 3].map((byte) => createMember(byte, clock, { mode: 'off' })) as [
    Member,
    Member,
    Member,
  ]
  return { clock, a, b, c }
}

async function send(from: Member, to: Member) {
  const snapshot = from.ledger.snapshot()
  return to.ledger.receiveBlock(encodeBlock(snapshot.entries(), snapshot.head), from.ledger.self)
}

const held = ({ ledger }: Member, key: string) => ledger.snapshot().getLive('b', key)?.value

/** Each value is in a block of its own. */
async function overwrite({ ledger }: Member, key: string, values: readonly string[], clock: ManualClock) {
  for (const value of values) {
    ledger.put('b', key, value)
    await clock.advance(20)
  }
}

/** Both write at once and hear of each other; the one whose block lost. */
async function race({ clock, a, b }: ReturnType<typeof createMembers>): Promise<Member> {
  a.ledger.put('b', 'a', '1')
  b.ledger.put('b', 'b', '2')
  await clock.advance(20)
  const isLost = a.ledger.snapshot().head.hash < b.ledger.snapshot().head.hash
  await Promise.all([send(a, b), send(b, a)])
  expect(b.ledger.snapshot().head).toEqual(a.ledger.snapshot().head)
  return isLost ? a : b
}

test('a block with machines is taken, and by a node that has its address alone', async () => {
  const { clock, a, b } = createMembers()
  a.ledger.put('machines', '10.1.0.1', JSON.stringify({ PeerID: a.ledger.self, Address: '10.1.0.1' }))
  await clock.advance(20)
  expect(await send(a, b)).toMatchObject({ accepted: 1, rejected: [] })
  expect(b.ledger.snapshot().count('machines')).toBe(1)
})

test('a block that holds more than the ledger may is refused, and one that replaces a full ledger is not', async () => {
  const clock = createManualClock()
  const a = createMember(1, clock, { mode: 'off' })
  const b = createMember(2, clock, { mode: 'off', limits: { maxUnsignedEntries: 4 } })
  const fill = async (prefix: string, count: number) => {
    for (let at = 0; at < count; at++) a.ledger.put('b', `${prefix}${at}`, '1')
    await clock.advance(20)
  }
  await fill('x', 5)
  expect(await send(a, b)).toMatchObject({ accepted: 0, rejected: [{ code: 'QUOTA' }] })
  a.ledger.delete('b', 'x0')
  await clock.advance(20)
  expect(await send(a, b)).toMatchObject({ accepted: 4, rejected: [] })
  a.ledger.deleteBucket('b')
  await fill('y', 4)
  expect(await send(a, b)).toMatchObject({ rejected: [] })
  expect(held(b, 'y3')).toBe('1')
})

describe('a write that lost the race of two blocks', () => {
  test('is repeated on top of the block that won', async () => {
    const at = createMembers()
    const { clock, a, b } = at
    const loser = await race(at)
    expect([held(loser, 'a'), held(loser, 'b')]).toContain(undefined)
    await clock.advance(REPEATED_MS)
    expect([held(loser, 'a'), held(loser, 'b')]).toEqual(['1', '2'])
    await send(loser, loser === a ? b : a)
    expect([held(a, 'a'), held(b, 'b'), held(a, 'b'), held(b, 'a')]).toEqual(['1', '2', '2', '1'])
  })

  test('is repeated as it was overwritten meanwhile, and a delete is, too', async () => {
    const { clock, a, b, c } = createMembers()
    a.ledger.put('b', 'gone', '1')
    a.ledger.put('b', 'kept', '1')
    await clock.advance(20)
    await send(a, b)
    await send(a, c)
    a.ledger.put('b', 'kept', '2')
    a.ledger.delete('b', 'gone')
    await clock.advance(20)
    await overwrite(c, 'other', ['1', '2', '3'], clock)
    await send(c, a)
    expect([held(a, 'kept'), held(a, 'gone'), held(a, 'other')]).toEqual(['1', '1', '3'])
    await clock.advance(REPEATED_MS)
    expect([held(a, 'kept'), held(a, 'gone'), held(a, 'other')]).toEqual(['2', undefined, '3'])
    expect(b.ledger.snapshot().count('b')).toBe(2)
  })

  test('is not repeated once its key says what another wrote, or 20 s have passed', async () => {
    const { clock, a, b } = createMembers()
    a.ledger.put('b', 'k', '1')
    await overwrite(b, 'k', ['8', '9'], clock)
    await send(b, a)
    await clock.advance(REPEATED_MS)
    expect(held(a, 'k')).toBe('9')

    a.ledger.put('b', 'late', '1')
    await clock.advance(20)
    await send(b, a)
    await clock.advance(20_001)
    await send(b, a)
    await overwrite(b, 'k', ['6', '7'], clock)
    await send(b, a)
    await clock.advance(REPEATED_MS)
    expect([held(a, 'late'), held(a, 'k')]).toEqual([undefined, '7'])
  })

  test('is watched for as long as nobody else is heard', async () => {
    const { clock, a, b } = createMembers()
    a.ledger.put('b', 'alone', '1')
    await overwrite(b, 'k', ['8', '9'], clock)
    await clock.advance(3_600_000)
    await send(b, a)
    await clock.advance(REPEATED_MS)
    expect([held(a, 'alone'), held(a, 'k')]).toEqual(['1', '9'])
  })
})

test('a write of another member is repeated, too, but not what came with a ledger that was new here', async () => {
  const { clock, a, b, c } = createMembers()
  b.ledger.put('b', 'old', '1')
  await clock.advance(20)
  await send(b, a)
  b.ledger.put('b', 'theirs', '2')
  await clock.advance(20)
  await send(b, a)
  for (const value of ['7', '8', '9']) {
    c.ledger.put('b', 'k', value)
    await clock.advance(20)
  }
  await send(c, a)
  await clock.advance(REPEATED_MS)
  expect([held(a, 'theirs'), held(a, 'old'), held(a, 'k')]).toEqual(['2', undefined, '9'])
})

test('what a member deletes that knows the write stays deleted', async () => {
  const { clock, a, b } = createMembers()
  a.ledger.put('b', 'k', '1')
  await clock.advance(20)
  await send(a, b)
  b.ledger.delete('b', 'k')
  await clock.advance(20)
  await send(b, a)
  await clock.advance(REPEATED_MS)
  expect(held(a, 'k')).toBeUndefined()
})
