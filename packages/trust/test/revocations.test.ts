/** What stays of a peer's entries that was shut out: the same on all nodes, whatever it wrote, dated and told to whom. */
import { systemRandom } from '@mesh/core'
import { canonicalBytes, createSigner, encodeBlock, type KeyedEntry, type Signer } from '@mesh/ledger'
import { createManualClock } from '@mesh/testkit'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { formatKept, hasEntry, parseKept, pickKept } from '../src/administration/kept-entries.ts'
import { signStatement } from '../src/administration/sign-statement.ts'
import { writeMember } from '../src/administration/statements.ts'
import { MAX_KEPT_ENTRIES } from '../src/limits.ts'
import {
  admin,
  administrationOf,
  meet,
  NETWORK,
  openFresh,
  openNode,
  required,
  settle,
  stopNodes,
  tell,
  tellAll,
  type TestNode,
} from './members.ts'

afterEach(stopNodes)

/** An entry whose version says that it was written long before. */
function dateBack(signer: Signer, key: string, version = 1n, value = '"dated back"'): KeyedEntry {
  const entry = { value, owner: signer.peerId, version, updatedAt: 1, deleted: false, sig: null }
  const unsigned = { bucket: 'notes', key, entry }
  return { ...unsigned, entry: { ...entry, sig: signer.sign(canonicalBytes(unsigned).slice()) } }
}

function notesOf({ ledger }: TestNode): readonly string[] {
  return [...ledger.snapshot().entries('notes')].map(({ key }) => key)
}

test('what only a part had heard that heard late of the revocation is held by none, whatever its date says', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const [far, bad] = [openNode(clock), openNode(clock)]
  await clock.advance(1)
  for (const each of [far, bad]) administrationOf(home).setMember(each.signer.peerId, 'admitted')
  for (const each of [far, bad]) tell(home, each)
  // from here on two parts
  await clock.advance(1_000)
  await settle(clock, bad.ledger.put('notes', 'before', '1'))
  tellAll(bad, home)
  await settle(clock, bad.ledger.put('notes', 'unheard', '1'))
  await clock.advance(1_000)
  administrationOf(home).setMember(bad.signer.peerId, 'revoked')
  await clock.advance(1_000)
  await settle(clock, bad.ledger.put('notes', 'after', '2'))
  tellAll(bad, far)
  expect(far.ledger.snapshot().count('notes')).toBe(3)
  // over the topic nothing of it is taken, whatever its version says
  const block = encodeBlock([...bad.ledger.snapshot().entries('notes')])
  expect((await home.ledger.receiveBlock(block, far.signer.peerId)).accepted).toBe(0)
  expect(far.ledger.merge([dateBack(bad.signer, 'dated back')], bad.signer.peerId).accepted).toBe(1)
  await meet(clock, [home, far])
  for (const each of [home, far, openFresh(clock, home), openFresh(clock, far)]) {
    expect([...each.ledger.snapshot().entries('notes')].map(({ key }) => key)).toEqual(['before'])
  }
})

test('a node that hears late of a revocation ends with the same entries as those that heard at once', async () => {
  const clock = createManualClock()
  const [home, bad] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  const [late, friend] = [openNode(clock), openNode(clock)]
  const all = [home, late, friend]
  await clock.advance(1)
  for (const { signer } of [bad, late, friend]) administrationOf(home).setMember(signer.peerId, 'admitted')
  for (const node of [bad, late, friend]) tell(home, node)
  const give = (from: TestNode, to: TestNode) => {
    const entries = [...from.ledger.snapshot().entries()].filter(({ bucket }) => bucket !== 'admission')
    return to.ledger.merge(entries, from.signer.peerId)
  }
  const put = (node: TestNode, key: string) => settle(clock, node.ledger.put('notes', key, `"${key}"`))
  await put(bad, 'before')
  await put(friend, 'changed')
  await put(friend, 'deleted')
  for (const node of all) for (const from of [bad, friend]) give(from, node)
  give(friend, bad)
  await clock.advance(1_000)
  administrationOf(home).setMember(bad.signer.peerId, 'revoked')
  tell(home, friend)
  await clock.advance(1_000)
  await put(bad, 'after')
  await settle(clock, bad.ledger.put('notes', 'changed', '"evil"'))
  await settle(clock, bad.ledger.delete('notes', 'deleted'))
  expect(give(bad, friend).accepted).toBe(0)
  expect(give(bad, late).accepted).toBe(3)
  tell(home, late)
  await clock.advance(1)
  give(friend, late)
  const digests = all.map(({ ledger }) => ledger.snapshot().digest().buckets['notes'])
  expect(new Set(digests).size).toBe(1)
  const keys = [...late.ledger.snapshot().entries('notes')].map(({ key, entry }) => [key, entry.value])
  expect(keys).toEqual([
    ['before', '"before"'],
    ['changed', '"changed"'],
    ['deleted', '"deleted"'],
  ])
  // who is let in again brings what it wrote meanwhile
  await clock.advance(1_000)
  administrationOf(home).setMember(bad.signer.peerId, 'admitted')
  tell(home, late)
  expect(give(bad, late).accepted).toBe(3)
})

test('a member that shows entries which a peer dated back after it was shut out finds nobody who takes them', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const [far, bad] = [openNode(clock), openNode(clock)]
  await clock.advance(1)
  for (const each of [far, bad]) administrationOf(home).setMember(each.signer.peerId, 'admitted')
  tell(home, far)
  await clock.advance(1_000)
  administrationOf(home).setMember(bad.signer.peerId, 'revoked')
  tell(home, far)
  const { rejected } = far.ledger.merge([dateBack(bad.signer, 'old')], home.signer.peerId)
  expect(rejected).toMatchObject([{ code: 'GATED' }])
})

test('what each of two administrators had heard when it shut a peer out stays where both had', async () => {
  const clock = createManualClock()
  const otherSeed = systemRandom.bytes(32)
  const administrators = [admin, createSigner(otherSeed)]
  const home = openNode(clock, { administrators, holdsKey: true })
  const other = openNode(clock, { administrators, holdsKey: true, seed: otherSeed })
  const bad = openNode(clock, { administrators })
  await clock.advance(1)
  administrationOf(home).setMember(bad.signer.peerId, 'admitted')
  for (const each of [other, bad]) tell(home, each)
  await settle(clock, bad.ledger.put('notes', 'both', '1'))
  for (const each of [home, other]) tellAll(bad, each)
  administrationOf(home).setMember(bad.signer.peerId, 'revoked')
  other.ledger.merge([dateBack(bad.signer, 'one')], bad.signer.peerId)
  administrationOf(other).setMember(bad.signer.peerId, 'revoked')
  expect(notesOf(other)).toEqual(['both', 'one'])
  await meet(clock, [home, other])
  for (const each of [home, other]) expect(notesOf(each)).toEqual(['both'])
})

test('a revocation said again by who heard of the first one does not take in what came since', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const bad = openNode(clock)
  await clock.advance(1)
  const administration = administrationOf(home)
  administration.setMember(bad.signer.peerId, 'admitted')
  await settle(clock, bad.ledger.put('notes', 'before', '1'))
  tellAll(bad, home)
  administration.setMember(bad.signer.peerId, 'revoked')
  await clock.advance(1_000)
  home.ledger.merge([dateBack(bad.signer, 'old')], bad.signer.peerId)
  administration.setMember(bad.signer.peerId, 'revoked')
  await clock.advance(1)
  expect(notesOf(home)).toEqual(['before'])
})

test('of a revocation that names no entries, as earlier versions wrote it, what is dated before it stays', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const bad = openNode(clock)
  administrationOf(home).setMember(bad.signer.peerId, 'admitted')
  await clock.advance(1_000)
  await settle(clock, bad.ledger.put('notes', 'before', '1'))
  tellAll(bad, home)
  await clock.advance(1_000)
  const member = { admin: admin.peerId, peer: bad.signer.peerId, state: 'revoked', use: undefined } as const
  const { key, valueText } = writeMember(NETWORK, member)
  const existing = home.ledger.snapshot().get('admission', key)
  const revocation = signStatement({ key, valueText, existing, nowMs: clock.now() }, admin)
  expect(home.ledger.merge([revocation], undefined).accepted).toBe(1)
  await clock.advance(1)
  expect(notesOf(home)).toEqual(['before'])
})

test('whatever a peer wrote and dated back while it was shut out and let in, members that meet hold the same', async () => {
  const order = fc.array(fc.tuple(fc.nat(99), fc.nat(99), fc.nat(7)), { minLength: 20, maxLength: 50 })
  await fc.assert(
    fc.asyncProperty(order, async (steps) => {
      const clock = createManualClock()
      const otherSeed = systemRandom.bytes(32)
      const administrators = [admin, createSigner(otherSeed)]
      const home = openNode(clock, { administrators, holdsKey: true })
      const other = openNode(clock, { administrators, holdsKey: true, seed: otherSeed })
      const [near, far, bad] = Array.from({ length: 3 }, () => openNode(clock, { administrators }))
      const members = [home, other, required(near), required(far)]
      const { signer } = required(bad)
      await clock.advance(1)
      for (const each of [...members.slice(2), required(bad)]) {
        administrationOf(home).setMember(each.signer.peerId, 'admitted')
      }
      await meet(clock, members)
      let forged = 0
      for (const [a, b, what] of steps) {
        const [from, to] = [required(members[a % 4]), required(members[b % 4])]
        const key = b % 2 === 0 ? home : other
        if (what === 0) await clock.advance(a * 100)
        else if (what === 1) administrationOf(key).setMember(signer.peerId, 'revoked')
        else if (what === 2) administrationOf(key).setMember(signer.peerId, 'admitted')
        else if (what === 3) await settle(clock, from.ledger.put('notes', `k${b % 5}`, `"${a}"`))
        else if (what === 4) {
          const version = BigInt(Math.floor(clock.now()) - 100 * a) * 1_000_000n
          to.ledger.merge([dateBack(signer, `k${b % 7}`, version, `"${++forged}"`)], signer.peerId)
        } else tellAll(from, to)
        await clock.advance(1)
      }
      administrationOf(home).setMember(signer.peerId, 'revoked')
      const unheard = required(far)
      unheard.ledger.merge([dateBack(signer, 'last')], signer.peerId)
      await meet(clock, members)
      const views = members.map(({ ledger }) => ledger.snapshot().digest().buckets)
      for (const each of views) expect(each).toEqual(views[0])
      for (const each of members) expect(notesOf(each)).not.toContain('last')
      await stopNodes()
    }),
    { numRuns: 40 },
  )
})

test('a revocation names the oldest entries of more than it can, and reads what it wrote', () => {
  const signer = createSigner(systemRandom.bytes(32))
  const sig = systemRandom.bytes(64)
  const entries = Array.from({ length: MAX_KEPT_ENTRIES + 2 }, (_, at): KeyedEntry => {
    const entry = {
      value: '1',
      owner: signer.peerId,
      version: BigInt(5_000 - at),
      updatedAt: 1,
      deleted: false,
      sig,
    }
    return { bucket: 'notes', key: `k${at}`, entry }
  })
  const text = formatKept(pickKept(entries, () => true))
  expect(text.length).toBeLessThan(24_000)
  const kept = required(parseKept(text))
  expect(entries.filter((each) => !hasEntry(kept, each)).map(({ key }) => key)).toEqual(['k0', 'k1'])
  expect(parseKept(formatKept(new Set()))).toEqual(new Set())
  for (const bad of [undefined, 7, 'AA', '????']) expect(parseKept(bad)?.size ?? 0).toBe(0)
})
