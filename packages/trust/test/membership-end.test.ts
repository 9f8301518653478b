/** Memberships that end by themselves, and invites that need an administrator's approval. */
import { createManualClock } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { MEMBER_END_TOLERANCE_MS } from '../src/limits.ts'
import { readStatement, writeMember } from '../src/administration/statements.ts'
import {
  admin,
  administrationOf,
  meet,
  NETWORK,
  openFresh,
  openNode,
  settle,
  stopNodes,
  tell,
  tellAll,
} from './members.ts'

const HOUR = 3_600_000

afterEach(stopNodes)

test('a member is out at its end on every node, as if it was shut out, and keeps its connection to ask again', async () => {
  const clock = createManualClock()
  const [home, far, guest] = [openNode(clock, { holdsKey: true }), openNode(clock), openNode(clock)]
  const id = guest.signer.peerId
  administrationOf(home).setMember(id, 'admitted', { forMs: HOUR })
  await meet(clock, [home, far, guest])
  expect([home, far].map(({ trust }) => trust.mayUse(id))).toEqual([true, true])
  await settle(clock, guest.ledger.put('notes', 'before', '1'))
  await meet(clock, [home, far, guest])
  await clock.advance(HOUR)
  expect(far.trust.mayUse(id)).toBe(true)
  let changes = 0
  far.trust.onChange(() => changes++)
  await clock.advance(MEMBER_END_TOLERANCE_MS)
  expect([home, far].map(({ trust }) => trust.mayUse(id))).toEqual([false, false])
  expect([far.trust.isBanned(id), changes]).toEqual([false, 1])
  // what it wrote before stays; what it writes now counts nowhere
  await settle(clock, guest.ledger.put('notes', 'after', '1'))
  expect(tellAll(guest, far).rejected.map(({ code }) => code)).toContain('GATED')
  expect(far.ledger.snapshot().getLive('notes', 'before')).toBeDefined()
  expect(far.ledger.snapshot().getLive('notes', 'after')).toBeUndefined()
  // a node that comes later holds the same
  const fresh = openFresh(clock, far)
  expect(fresh.ledger.snapshot().digest()).toEqual(far.ledger.snapshot().digest())
})

test('an entry that a member wrote after its end goes where a node took it before it heard of the end', async () => {
  const clock = createManualClock()
  const [home, far, guest] = [openNode(clock, { holdsKey: true }), openNode(clock), openNode(clock)]
  const id = guest.signer.peerId
  administrationOf(home).setMember(id, 'admitted')
  await meet(clock, [home, far, guest])
  await clock.advance(HOUR)
  // the end was stated, and a part of the network does not hear of it
  administrationOf(home).setMember(id, 'admitted', { forMs: 60_000 })
  await clock.advance(60_000 + MEMBER_END_TOLERANCE_MS)
  await settle(clock, guest.ledger.put('notes', 'late', '1'))
  tellAll(guest, far)
  expect(far.ledger.snapshot().getLive('notes', 'late')).toBeDefined()
  tell(home, far)
  await clock.advance(1_000)
  expect(far.ledger.snapshot().getLive('notes', 'late')).toBeUndefined()
})

test('a renewal before the end leaves no gap, and one after it lets the member in again', async () => {
  const clock = createManualClock()
  const [home, far] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  const id = far.signer.peerId
  const { roster } = administrationOf(home)
  expect(roster.endsAt.size).toBe(0)
  administrationOf(home).setMember(id, 'admitted', { forMs: HOUR })
  await clock.advance(HOUR)
  administrationOf(home).setMember(id, 'admitted', { forMs: HOUR })
  await clock.advance(MEMBER_END_TOLERANCE_MS)
  expect(home.trust.mayUse(id)).toBe(true)
  await clock.advance(HOUR)
  expect(home.trust.mayUse(id)).toBe(false)
  administrationOf(home).setMember(id, 'admitted')
  expect(home.trust.mayUse(id)).toBe(true)
  expect(administrationOf(home).roster.endsAt.size).toBe(0)
})

test('the wall clock counts, also when it is set', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const id = openNode(clock).signer.peerId
  administrationOf(home).setMember(id, 'admitted', { forMs: 24 * HOUR })
  let changes = 0
  home.trust.onChange(() => changes++)
  clock.stepWall(25 * HOUR)
  expect(home.trust.mayUse(id)).toBe(false)
  await clock.advance(10_000)
  expect(changes).toBe(1)
})

test('an invite says how long its member is in, and the end begins when an administrator confirms it', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const { code } = administrationOf(home).invite({ memberForMs: 8 * HOUR })
  await clock.advance(HOUR)
  const guest = openNode(clock, { invite: code })
  tell(home, guest)
  await clock.advance(1)
  tell(guest, home)
  const confirmedAt = clock.now()
  await clock.advance(1)
  const id = guest.signer.peerId
  expect(administrationOf(home).roster.endsAt.get(id)).toBe(Math.ceil(confirmedAt) + 8 * HOUR)
  // a restart of the guest with its old code does not begin another one
  await clock.advance(8 * HOUR + MEMBER_END_TOLERANCE_MS)
  tell(guest, home)
  await clock.advance(1)
  expect(home.trust.mayUse(id)).toBe(false)
})

test('where approval is asked for, an invite brings a machine to waiting only', async () => {
  const clock = createManualClock()
  const [home, far] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  administrationOf(home).setApproval(true)
  const { code } = administrationOf(home).invite({ memberForMs: 8 * HOUR })
  const guest = openNode(clock, { invite: code })
  tell(home, guest)
  await clock.advance(1)
  tell(guest, home)
  tell(home, far)
  await clock.advance(1)
  const id = guest.signer.peerId
  expect([home, far].map(({ trust }) => trust.mayUse(id))).toEqual([false, false])
  expect([...administrationOf(home).roster.awaiting.keys()]).toEqual([id])
  administrationOf(home).setMember(id, 'admitted')
  tell(home, far)
  expect([home, far].map(({ trust }) => trust.mayUse(id))).toEqual([true, true])
  expect(administrationOf(far).roster.endsAt.get(id)).toBeGreaterThan(clock.now())
  // nobody but an administrator changes it
  expect(() => administrationOf(far).setApproval(false)).toThrow("holds no administrator's key")
  administrationOf(home).setApproval(false)
  expect(administrationOf(home).roster.needsApproval).toBe(false)
})

test('a statement whose end cannot be read admits nobody', () => {
  const peer = admin.peerId
  const { key, valueText } = writeMember(NETWORK, {
    admin: peer,
    peer,
    state: 'admitted',
    use: undefined,
    until: 1_000,
  })
  expect(readStatement({ network: NETWORK }, key, valueText)).toMatchObject({ until: 1_000 })
  for (const Until of [1, 'soon', null]) {
    const changed = JSON.stringify({ ...(JSON.parse(valueText) as object), Until })
    expect(readStatement({ network: NETWORK }, key, changed)).toBeUndefined()
  }
})
