import { heartbeatValue } from '@mesh/core'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { createLedger, type KeyedEntry, type Ledger, type LedgerLimits, type Signer } from '../src/index.ts'
import { createNodeSigner } from '../src/node.ts'
import { forge, nanos } from './members.ts'

const signers = Array.from({ length: 40 }, (_, n) => createNodeSigner(new Uint8Array(32).fill(n + 1)))
const signerAt = (n: number): Signer => signers[n] as Signer

function open(clock: ManualClock, limits: Partial<LedgerLimits>, signer = signerAt(0)): Ledger {
  return createLedger({ limits }, { signer, clock, verify: () => true })
}

/** What a newcomer writes first. */
function arrival(signer: Signer, clock: ManualClock): KeyedEntry[] {
  const version = nanos(clock.now())
  return [
    forge(signer, 'healthcheck', signer.peerId, { version, value: heartbeatValue(clock.now()) }),
    forge(signer, 'machines', `10.1.0.${signers.indexOf(signer)}`, {
      version,
      value: JSON.stringify({ PeerID: signer.peerId }),
    }),
    forge(signer, 'users', signer.peerId, { version, value: JSON.stringify({ PeerID: signer.peerId }) }),
  ]
}

const rowsOf = (signer: Signer, bucket: string, count: number, version: bigint) =>
  Array.from({ length: count }, (_, n) =>
    forge(signer, bucket, `${signers.indexOf(signer)}/${n}`, {
      version: version + BigInt(n),
      sig: new Uint8Array(64),
    }),
  )

describe('a full ledger', () => {
  test.each(['notes', 'dns', 'machines'])(
    'that two keys filled with %s has room for anyone who comes, and for what this node writes',
    async (bucket) => {
      const clock = createManualClock()
      const ledger = open(clock, { maxEntries: 400, maxSignerEntries: 300 })
      const value = (signer: Signer) =>
        bucket === 'machines' ? JSON.stringify({ PeerID: signer.peerId }) : '1'
      for (const signer of [signerAt(1), signerAt(2)]) {
        const rows = rowsOf(signer, bucket, 400, 1n).map((row) => ({
          ...row,
          entry: { ...row.entry, value: value(signer) },
        }))
        ledger.merge(rows, undefined)
      }
      expect(ledger.snapshot().size).toBeLessThanOrEqual(400)
      for (const signer of signers.slice(3, 20)) {
        expect(ledger.merge(arrival(signer, clock), undefined).accepted).toBe(3)
        expect(
          ledger.merge([forge(signer, 'notes', signer.peerId, { version: 1n })], undefined).accepted,
        ).toBe(1)
      }
      const { settled } = ledger.put('notes', 'own', '1')
      await clock.advance(20)
      expect(await settled).toMatchObject({ state: 'committed' })
      for (const signer of signers.slice(3, 20)) {
        expect(ledger.snapshot().getLive('users', signer.peerId)).toBeDefined()
        expect(ledger.snapshot().getLive('notes', signer.peerId)).toBeDefined()
      }
    },
  )

  test('that many keys filled with a little each has room for anyone who comes', () => {
    const clock = createManualClock()
    const ledger = open(clock, { maxEntries: 400 })
    for (const signer of signers.slice(1, 30)) {
      for (const bucket of ['notes', 'services']) {
        const value = JSON.stringify({ PeerID: signer.peerId })
        const rows = rowsOf(signer, bucket, 10, 1n).map((row) => ({ ...row, entry: { ...row.entry, value } }))
        ledger.merge(rows, undefined)
      }
    }
    for (const signer of signers.slice(30)) {
      expect(ledger.merge(arrival(signer, clock), undefined).accepted).toBe(3)
    }
  })

  test('lets go of open entries before owned ones, the oldest first, and tells it', () => {
    const clock = createManualClock()
    const ledger = open(clock, { maxEntries: 8 })
    const ended: string[] = []
    ledger.subscribe((event) => {
      if (event.type !== 'committed') return
      for (const { key, entry } of event.changes) if (entry.deleted) ended.push(key)
    })
    ledger.merge(rowsOf(signerAt(1), 'dns', 2, 1n), undefined)
    ledger.merge(rowsOf(signerAt(1), 'notes', 4, 10n).toReversed(), undefined)
    ledger.merge([forge(signerAt(2), 'notes', 'other', { version: 1n })], undefined)
    expect(ended).toEqual(['1/0'])
    expect([...ledger.snapshot().entries()].map(({ key }) => key)).toEqual([
      '1/0',
      '1/1',
      '1/1',
      '1/2',
      '1/3',
      'other',
    ])
  })

  test('this node lets go of nothing of its own for others', async () => {
    const clock = createManualClock()
    const ledger = open(clock, { maxEntries: 8 })
    for (let n = 0; n < 6; n++) ledger.put('notes', `own ${n}`, '1')
    await clock.advance(20)
    expect(
      ledger.merge([forge(signerAt(2), 'notes', 'other', { version: 1n })], undefined).rejected,
    ).toMatchObject([{ code: 'QUOTA' }])
    const { settled } = ledger.put('notes', 'own 7', '1')
    await clock.advance(20)
    expect(await settled).toMatchObject({ state: 'refused', error: { code: 'ledger.over_quota' } })
    expect(ledger.snapshot().count('notes')).toBe(6)
  })

  test('is the same on all members, in whatever order entries came', () => {
    const row = fc.record({
      signer: fc.integer({ min: 5, max: 9 }),
      bucket: fc.constantFrom('notes', 'more', 'dns'),
      key: fc.integer({ min: 0, max: 60 }),
      version: fc.integer({ min: 1, max: 1000 }),
    })
    const orders = fc.array(fc.nat(), { minLength: 3, maxLength: 3 })
    fc.assert(
      fc.property(fc.array(row, { minLength: 20, maxLength: 120 }), orders, (rows, seeds) => {
        const clock = createManualClock()
        const entries = rows.map(({ signer, bucket, key, version }) =>
          forge(signerAt(signer), bucket, `${signer}/${key}`, {
            version: BigInt(version),
            sig: new Uint8Array(64),
          }),
        )
        const ledgers = seeds.map((seed, at) => {
          const ledger = open(clock, { maxEntries: 40 }, signerAt(at))
          for (const entry of shuffled(entries, seed)) ledger.merge([entry], undefined)
          return ledger
        })
        const digests = () => new Set(ledgers.map((ledger) => ledger.snapshot().digest().digest)).size
        for (let round = 0; round < 10 && digests() > 1; round++) {
          for (const from of ledgers) for (const to of ledgers) to.merge(from.snapshot().entries(), undefined)
        }
        expect(digests()).toBe(1)
      }),
      { numRuns: 20, endOnFailure: true },
    )
  })
})

describe('what says who is there', () => {
  const machine = (peer: string) => JSON.stringify({ PeerID: peer })
  /** What a ledger wrote itself, as it went to others. */
  const published = (ledger: Ledger) => {
    const blocks: KeyedEntry[][] = []
    ledger.subscribe((event) => {
      if (event.type === 'committed') blocks.push(event.changes.filter(({ origin }) => origin === 'local'))
    })
    return blocks
  }

  test('a machine that moved from address to address has room for one more, on all members alike', async () => {
    const clock = createManualClock()
    const [mover, other] = [open(clock, {}), open(clock, {}, signerAt(1))]
    const blocks = published(mover)
    const own = machine(mover.self)
    const commit = async (write: ReturnType<Ledger['put']>) => {
      await clock.advance(20)
      return (await write.settled).state
    }
    await commit(mover.put('healthcheck', mover.self, heartbeatValue(clock.now())))
    await commit(mover.put('machines', 'fd00::1', own))
    for (let n = 1; n <= 100; n++) {
      expect(await commit(mover.put('machines', `10.1.0.${n}`, own))).toBe('committed')
      await commit(mover.delete('machines', `10.1.0.${n}`))
    }
    expect(await commit(mover.put('machines', '10.1.0.101', own))).toBe('committed')
    for (const block of blocks) other.merge(block, mover.self)
    expect(other.snapshot().digest().digest).toBe(mover.snapshot().digest().digest)
    for (const key of ['fd00::1', '10.1.0.101'])
      expect(other.snapshot().getLive('machines', key)).toBeDefined()
    // what went is not forgotten: none of it comes back
    const [first] = blocks.flat().filter(({ key }) => key === '10.1.0.1')
    expect(other.merge(first === undefined ? [] : [first], mover.self).rejected).toMatchObject([
      { code: 'REPLAYED' },
    ])
  })

  test('the leader ends what hundreds left behind, and has room for itself', async () => {
    const clock = createManualClock()
    const [leader, other] = [open(clock, {}), open(clock, {}, signerAt(1))]
    const blocks = published(leader)
    const left = signers.slice(2).flatMap((signer) => [
      ...arrival(signer, clock),
      forge(signer, 'machines', `fd00::${signers.indexOf(signer)}`, {
        version: nanos(clock.now()),
        value: machine(signer.peerId),
      }),
    ])
    for (const ledger of [leader, other]) expect(ledger.merge(left, undefined).accepted).toBe(left.length)
    await clock.advance(481_000)
    leader.put('healthcheck', leader.self, heartbeatValue(clock.now()))
    await clock.advance(20)
    expect(leader.reap().ended).toBe(left.length)
    await clock.advance(20)
    const { settled } = leader.put('machines', '10.1.0.200', machine(leader.self))
    await clock.advance(20)
    expect((await settled).state).toBe('committed')
    for (const block of blocks) other.merge(block, leader.self)
    for (const ledger of [leader, other]) {
      for (const { bucket, key } of left) expect(ledger.snapshot().getLive(bucket, key)).toBeUndefined()
      expect(ledger.snapshot().getLive('machines', '10.1.0.200')).toBeDefined()
      // who missed that still holds it, and brings it again
      expect(ledger.merge(left, undefined).accepted).toBe(0)
    }
    expect(other.snapshot().digest().digest).toBe(leader.snapshot().digest().digest)
  })
})

describe('a range of addresses', () => {
  const claims = (signer: Signer, addresses: readonly number[], isNamed = false) =>
    addresses.map((n) =>
      forge(
        signer,
        'machines',
        isNamed ? `fd00::${signers.indexOf(signer)}:${n.toString(16)}` : `10.1.0.${n}`,
        {
          version: BigInt(1_000 + n),
          value: JSON.stringify({ PeerID: signer.peerId, Address: `10.1.0.${n}` }),
          sig: new Uint8Array(64),
        },
      ),
    )
  const range = (from: number, count: number) => Array.from({ length: count }, (_, n) => from + n)
  const usedIn = (ledger: Ledger) =>
    [...ledger.snapshot().entries('machines')].filter(({ key }) => key.startsWith('10.1.0.')).length

  test('that a few keys claim has addresses left, on all members alike, and who has one keeps it', () => {
    const clock = createManualClock()
    const honest = signers
      .slice(1, 4)
      .flatMap((signer, n) => [...claims(signer, [n + 1]), ...claims(signer, [n + 1], true)])
    const sybils = signers.slice(10, 20).flatMap((signer, n) => claims(signer, range(5 + n * 25, 25)))
    const ledgers = [7, 70, 700].map((seed) => {
      const ledger = open(clock, {})
      for (const entry of [...honest, ...shuffled(sybils, seed)]) ledger.merge([entry], undefined)
      return ledger
    })
    for (const from of ledgers) for (const to of ledgers) to.merge(from.snapshot().entries(), undefined)
    for (const ledger of ledgers) {
      expect(usedIn(ledger)).toBeLessThanOrEqual(192)
      for (const { key } of honest) expect(ledger.snapshot().getLive('machines', key)).toBeDefined()
    }
    expect(new Set(ledgers.map((ledger) => ledger.snapshot().digest().digest)).size).toBe(1)
    const [ledger] = ledgers as [Ledger]
    const newcomer = claims(signerAt(30), [254])
    expect(ledger.merge(newcomer, undefined).accepted).toBe(1)
    // the same through records of IPv6 addresses
    for (const signer of signers.slice(20, 30)) ledger.merge(claims(signer, range(1, 254), true), undefined)
    const named = new Set(
      [...ledger.snapshot().entries('machines')].map(({ entry }) => JSON.parse(entry.value).Address),
    )
    expect(named.size).toBeLessThanOrEqual(192)
    expect(ledger.snapshot().getLive('machines', '10.1.0.254')).toBeDefined()
  })

  test('is filled by as many members as it has addresses', () => {
    const clock = createManualClock()
    const ledger = open(clock, {})
    const many = Array.from({ length: 254 }, (_, n) =>
      createNodeSigner(new Uint8Array(32).fill(7, 0, 16).fill(n + 1, 16)),
    )
    for (const [n, signer] of many.entries()) ledger.merge(claims(signer, [n + 1]), undefined)
    expect(usedIn(ledger)).toBe(254)
  })
})

function shuffled<T>(list: readonly T[], seed: number): T[] {
  let state = seed + 1
  const next = () => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff
    return state
  }
  return list
    .map((item) => ({ item, rank: next() }))
    .toSorted((a, b) => a.rank - b.rank)
    .map(({ item }) => item)
}
