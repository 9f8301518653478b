import { expect, test } from 'vitest'
import { createManualClock } from '@mesh/testkit'
import { createMember, createPair, exchange, forge, type Member, nanos, send } from './members.ts'

const KEY = ['machines', '10.1.0.1'] as const
const claimBy = (peerId: string) => JSON.stringify({ PeerID: peerId })

/** Both claim one key without hearing of each other, `apartMs` apart; A first. */
async function race(apartMs: number) {
  const pair = await createPair()
  const { clock, a, b } = pair
  a.ledger.put(...KEY, claimBy(a.ledger.self))
  await clock.advance(apartMs)
  b.ledger.put(...KEY, claimBy(b.ledger.self))
  await clock.advance(25)
  return pair
}

test('of two claims within 10 s the later is given up, said, and the other stands on all nodes', async () => {
  const { clock, a, b } = await race(3000)
  const witness = createMember(3, clock)
  await witness.beat()
  exchange(witness, b)
  expect(witness.ledger.snapshot().get(...KEY)?.owner).toBe(b.ledger.self)
  send(a, b, ...KEY)
  expect(b.told('yielded')).toEqual([{ type: 'yielded', bucket: KEY[0], key: KEY[1], to: a.ledger.self }])
  await clock.advance(25)
  expect(b.ledger.snapshot().get(...KEY)?.deleted).toBe(true)
  send(b, a, ...KEY)
  await clock.advance(25)
  exchange(a, b, witness)
  for (const { ledger } of [a, b, witness]) {
    expect(ledger.snapshot().getLive(...KEY)?.owner).toBe(a.ledger.self)
    expect(ledger.conflicts()).toEqual([])
  }
  expect(a.told('yielded')).toEqual([])
  expect(b.ledger.snapshot().digest()).toEqual(a.ledger.snapshot().digest())
})

test('both hear of each other at once: exactly one yields', async () => {
  const { clock, a, b } = await race(0)
  const [ofA, ofB] = [a, b].map(({ ledger }) => [...ledger.snapshot().entries('machines')])
  a.ledger.merge(ofB ?? [], b.ledger.self)
  b.ledger.merge(ofA ?? [], a.ledger.self)
  await clock.advance(25)
  exchange(a, b)
  await clock.advance(25)
  exchange(a, b)
  expect([...a.told('yielded'), ...b.told('yielded')]).toHaveLength(1)
  expect(a.ledger.snapshot().digest()).toEqual(b.ledger.snapshot().digest())
  expect(a.ledger.snapshot().count('machines')).toBe(1)
})

test('an older claim cannot be lost to a backdated one', async () => {
  const { clock, a, b } = await race(5000)
  await clock.advance(11_000)
  exchange(a, b)
  await clock.advance(25)
  expect(a.told('yielded')).toEqual([])
  expect(b.told('yielded')).toEqual([])
  expect(a.ledger.snapshot().getLive(...KEY)?.owner).toBe(a.ledger.self)
})

test('two live owners after a long partition stay as they are, are told, until one lets go', async () => {
  const { clock, a, b } = await race(60_000)
  exchange(a, b)
  await clock.advance(25)
  for (const [member, owners] of [
    [a, [a.ledger.self, b.ledger.self]],
    [b, [b.ledger.self, a.ledger.self]],
  ] as const) {
    expect(member.ledger.snapshot().getLive(...KEY)?.owner).toBe(member.ledger.self)
    expect(member.ledger.conflicts()).toMatchObject([{ bucket: KEY[0], key: KEY[1], owners }])
    expect(member.told('conflict')).toEqual([
      { type: 'conflict', bucket: KEY[0], key: KEY[1], owners, resolved: false },
    ])
  }
  exchange(a, b)
  expect(a.told('conflict')).toHaveLength(1)
  b.ledger.delete(...KEY)
  await clock.advance(25)
  send(b, a, ...KEY)
  await clock.advance(25)
  exchange(a, b)
  expect(a.ledger.snapshot().getLive(...KEY)?.owner).toBe(a.ledger.self)
  expect(b.ledger.snapshot().getLive(...KEY)?.owner).toBe(a.ledger.self)
  for (const { ledger, told } of [a, b]) {
    expect(ledger.conflicts()).toEqual([])
    expect(told('conflict').at(-1)).toMatchObject({ resolved: true })
  }
})

test('a conflict ends when one side is no longer alive', async () => {
  const { clock, a, b } = await race(60_000)
  exchange(a, b)
  await clock.advance(200_000)
  await a.beat()
  await clock.advance(300_000)
  expect(a.ledger.conflicts()).toEqual([])
  expect(a.told('conflict').at(-1)).toMatchObject({ resolved: true })
})

test('who comes back after its lease ended gives up what another live owner took, and says so', async () => {
  const { clock, a, b } = await createPair()
  a.ledger.put(...KEY, claimBy(a.ledger.self))
  await clock.advance(20)
  exchange(a, b)
  await clock.advance(481_000)
  await b.beat()
  b.ledger.put(...KEY, claimBy(b.ledger.self))
  await clock.advance(25)
  expect(b.ledger.snapshot().getLive(...KEY)?.owner).toBe(b.ledger.self)
  a.ledger.merge(b.ledger.snapshot().entries(), b.ledger.self)
  expect(a.ledger.snapshot().getLive(...KEY)?.owner).toBe(b.ledger.self)
  expect(a.told('yielded')).toEqual([{ type: 'yielded', bucket: KEY[0], key: KEY[1], to: b.ledger.self }])
  await a.beat()
  expect(() => a.ledger.put(...KEY, claimBy(a.ledger.self))).toThrow(
    expect.objectContaining({ code: 'ledger.not_owner' }),
  )
})

test('a live owner is not robbed by a takeover, and a dead one is', async () => {
  const { clock, a, b } = await createPair()
  a.ledger.put(...KEY, claimBy(a.ledger.self))
  await clock.advance(20)
  exchange(a, b)
  const refused = () => b.ledger.put(...KEY, claimBy(b.ledger.self))
  expect(refused).toThrow(expect.objectContaining({ code: 'ledger.not_owner' }))
  await clock.advance(479_000)
  expect(refused).toThrow(expect.objectContaining({ code: 'ledger.not_owner' }))
  await clock.advance(1500)
  expect(refused).not.toThrow()
})

test('who missed a tombstone is told by its owner, and then takes what came after it', async () => {
  const { clock, a, b } = await createPair()
  const witness = createMember(3, clock)
  await witness.beat()
  b.ledger.put(...KEY, claimBy(b.ledger.self))
  await clock.advance(25)
  exchange(a, b, witness)
  b.ledger.delete(...KEY)
  await clock.advance(25)
  exchange(a, b)
  a.ledger.put(...KEY, claimBy(a.ledger.self))
  await clock.advance(25)
  exchange(a, b)
  expect(send(a, witness, ...KEY).rejected).toMatchObject([{ code: 'NOT_OWNER' }])
  send(witness, b, ...KEY)
  const [retracted] = b.told('retracted')
  expect(retracted?.entries).toMatchObject([{ key: KEY[1], entry: { owner: b.ledger.self, deleted: true } }])
  expect(witness.ledger.merge(retracted?.entries ?? [], b.ledger.self).accepted).toBe(1)
  expect(send(a, witness, ...KEY).accepted).toBe(1)
  send(witness, b, ...KEY)
  expect(b.told('retracted')).toHaveLength(1)
})

test('who was taken for gone announces again above the tombstone, not more than once a second', async () => {
  const { clock, a, b } = await createPair()
  a.ledger.put(...KEY, claimBy(a.ledger.self))
  await clock.advance(25)
  exchange(a, b)
  await clock.advance(481_000)
  b.ledger.delete(...KEY)
  await b.beat()
  await a.beat()
  const version = b.ledger.snapshot().get(...KEY)?.version ?? 0n
  send(b, a, ...KEY)
  send(b, a, ...KEY)
  await clock.advance(25)
  expect(a.ledger.snapshot().getLive(...KEY)?.version).toBeGreaterThan(version)
  expect(send(a, b, ...KEY).accepted).toBe(1)
})

test('a member that was away longer than tombstones live is told by the leader what has ended', async () => {
  const { clock, a, b } = await createPair({ tombstoneTtlMs: 1000 })
  const away = createMember(3, clock)
  a.ledger.put('notes', 'open', '1')
  await clock.advance(25)
  exchange(a, b, away)
  a.ledger.delete('notes', 'open')
  await clock.advance(25)
  exchange(a, b)
  await clock.advance(60_000)
  for (const { ledger } of [a, b]) expect(ledger.reap().collected).toBe(1)
  const leader = a.ledger.leader() === a.ledger.self ? a : b
  expect(send(away, leader, 'notes', 'open').rejected).toMatchObject([{ code: 'REPLAYED' }])
  const [retracted] = leader.told('retracted')
  expect(away.ledger.merge(retracted?.entries ?? [], leader.ledger.self).accepted).toBe(1)
  expect(away.ledger.snapshot().getLive('notes', 'open')).toBeUndefined()
})

test('who knows what has ended answers it in a comparison though another leads, and tells nobody else', async () => {
  const { clock, a, b } = await createPair({ tombstoneTtlMs: 1000 })
  const [knowing, leader] = a.ledger.leader() === a.ledger.self ? [b, a] : [a, b]
  const gone = createMember(3, clock)
  gone.ledger.put('notes', 'open', '1')
  gone.ledger.put('dns', 'owned', '{}')
  await clock.advance(25)
  const old = [...gone.ledger.snapshot().entries()]
  exchange(gone, knowing)
  for (const { bucket, key } of old) gone.ledger.delete(bucket, key)
  await clock.advance(25)
  exchange(gone, knowing)
  await clock.advance(500_000)
  for (const member of [a, b]) await member.beat()
  send(leader, knowing, 'healthcheck', leader.ledger.self)
  expect(knowing.ledger.reap().collected).toBe(2)
  expect(knowing.ledger.leader()).toBe(leader.ledger.self)
  expect(leader.ledger.merge(old, gone.ledger.self).accepted).toBe(2)
  const { retracted = [] } = knowing.ledger.merge(old, leader.ledger.self)
  expect(leader.ledger.merge(retracted, knowing.ledger.self).accepted).toBe(2)
  for (const { bucket, key } of old) expect(leader.ledger.snapshot().getLive(bucket, key)).toBeUndefined()
  expect(knowing.told('retracted')).toEqual([])
})

test('a forged old entry costs the answer to the real one nothing, and each that sends it is answered', async () => {
  const { clock, a, b } = await createPair({ tombstoneTtlMs: 1000 })
  a.ledger.put(...KEY, claimBy(a.ledger.self))
  await clock.advance(25)
  const entry = a.ledger.snapshot().get(...KEY)
  if (entry === undefined) throw new Error('nothing was stored')
  a.ledger.delete(...KEY)
  await clock.advance(60_000)
  expect(a.ledger.reap().collected).toBe(1)
  const old = { bucket: KEY[0], key: KEY[1], entry }
  const forged = { ...old, entry: { ...entry, value: '"forged"' } }
  for (let n = 0; n < 1_000; n++) {
    const other = { ...forged, entry: { ...forged.entry, version: entry.version - BigInt(n) } }
    expect(a.ledger.merge([other], b.ledger.self).retracted).toBeUndefined()
  }
  const tombstone = { key: KEY[1], entry: { deleted: true, version: entry.version + 1n } }
  expect(a.ledger.merge([old], b.ledger.self).retracted).toMatchObject([tombstone])
  expect(a.ledger.merge([old], b.ledger.self).retracted).toMatchObject([tombstone])
  expect(a.told('retracted')).toHaveLength(1)
})

test('claims that are dated a nanosecond earlier take no more than one moment of a node', async () => {
  const { clock, a, b } = await createPair()
  let lost = 0
  for (let address = 1; address <= 20; address++) {
    const position = ['machines', `10.1.0.${address}`] as const
    a.ledger.put(...position, claimBy(a.ledger.self))
    await clock.advance(25)
    const version = (a.ledger.snapshot().get(...position)?.version ?? 0n) - 1n
    const rival = forge(b.signer, ...position, { version, value: claimBy(b.ledger.self) })
    a.ledger.merge([rival], b.ledger.self)
    await clock.advance(11_000)
    await a.beat()
    await b.beat()
    exchange(a, b)
    if (a.ledger.snapshot().getLive(...position) === undefined) lost++
  }
  expect(lost).toBe(1)
  expect(a.ledger.conflicts()).toHaveLength(19)
})

test('many claimants take no more than a few claims of a node', async () => {
  const clock = createManualClock()
  const a = createMember(1, clock)
  await a.beat()
  for (let n = 0; n < 40; n++) {
    const rival = createMember(100 + n, clock)
    await rival.beat()
    a.ledger.merge(rival.ledger.snapshot().entries(), rival.ledger.self)
    // a signer has room for few machines
    const position = [n % 2 === 0 ? 'machines' : 'services', `name-${n}`] as const
    a.ledger.put(...position, claimBy(a.ledger.self))
    await clock.advance(25)
    const version = (a.ledger.snapshot().get(...position)?.version ?? 0n) - 1n
    a.ledger.merge(
      [forge(rival.signer, ...position, { version, value: claimBy(rival.ledger.self) })],
      rival.ledger.self,
    )
    await clock.advance(25)
  }
  expect(a.told('yielded')).toHaveLength(32)
})

test('tombstones on many keys make their owner sign at a bounded rate', async () => {
  const { clock, a, b } = await createPair()
  const keys = Array.from({ length: 3000 }, (_, n) => `k${n}`)
  for (const key of keys) a.ledger.put('dns', key, '{"1":"10.1.0.1"}')
  await clock.advance(1000)
  const announced = () =>
    a
      .told('committed')
      .reduce((sum, { changes }) => sum + changes.filter((change) => change.origin === 'local').length, 0)
  const before = announced()
  for (let round = 0; round < 5; round++) {
    const version = nanos(clock.now()) + BigInt(round) * 10_000_000_000n
    const tombstones = keys.map((key) =>
      forge(b.signer, 'dns', key, {
        version,
        value: '',
        deleted: true,
        updatedAt: Math.floor(clock.now() / 1000),
      }),
    )
    a.ledger.merge(tombstones, b.ledger.self)
    await clock.advance(1000)
  }
  expect(announced() - before).toBeLessThanOrEqual(512 + 6 * 20)
  expect(announced() - before).toBeGreaterThan(500)
  expect(a.ledger.snapshot().count('dns')).toBe(3000)
})

test('a claim is answered with what its maker may not have heard: at once, then together after a pause', async () => {
  const { clock, a, b } = await race(1_000)
  const claim = () => send(b, a, ...KEY)
  claim()
  for (let again = 0; again < 5; again++) claim()
  const answers = () => a.told('contested').map(({ entries }) => entries)
  expect(answers()).toHaveLength(1)
  const [heartbeat, own] = answers()[0] ?? []
  expect([heartbeat?.bucket, heartbeat?.key]).toEqual(['healthcheck', a.ledger.self])
  expect(own).toMatchObject({ bucket: KEY[0], key: KEY[1], entry: { owner: a.ledger.self } })
  await clock.advance(999)
  expect(answers()).toHaveLength(1)
  await clock.advance(1)
  expect(answers()).toHaveLength(2)
  await clock.advance(60_000)
  expect(answers()).toHaveLength(2)
  // by now both keep what they hold, and tell each other once
  claim()
  claim()
  await clock.advance(60_000)
  expect(answers()).toHaveLength(3)
})

test('an answer that is owed ends with its ledger', async () => {
  const { clock, a, b } = await race(1_000)
  send(b, a, ...KEY)
  send(b, a, ...KEY)
  expect(clock.pending).toBe(1)
  await a.ledger.stop()
  expect(clock.pending).toBe(0)
})

test('a claimant that does not know that the holder lives hears so with the answer', async () => {
  const clock = createManualClock()
  const [early, late] = [createMember(1, clock), createMember(2, clock)]
  await early.beat()
  early.ledger.put(...KEY, claimBy(early.ledger.self))
  await clock.advance(3_000)
  await late.beat()
  late.ledger.put(...KEY, claimBy(late.ledger.self))
  await clock.advance(25)
  const answer = (from: Member) => from.told('contested').at(-1)?.entries ?? []
  // without a heartbeat the claim is that of a member that is gone
  send(early, late, ...KEY)
  expect(late.told('yielded')).toEqual([])
  early.ledger.merge(answer(late), late.ledger.self)
  late.ledger.merge(answer(early), early.ledger.self)
  expect(late.told('yielded')).toMatchObject([{ to: early.ledger.self }])
  expect(early.told('yielded')).toEqual([])
})
