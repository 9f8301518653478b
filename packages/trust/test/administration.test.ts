/** Administrators over real ledgers: what nodes believe, whatever others write into the bucket `admission`. */
import { type PeerId, systemRandom } from '@mesh/core'
import { canonicalBytes, createLedger, createSigner, type KeyedEntry, type Signer } from '@mesh/ledger'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import fc from 'fast-check'
import { afterEach, expect, test } from 'vitest'
import { readStatement } from '../src/administration/statements.ts'
import {
  admin,
  administrationOf,
  meet,
  NETWORK,
  nodes,
  openNode,
  required,
  settle,
  stopNodes,
  tell,
  tellAll,
  type TestNode,
} from './members.ts'

const HOUR = 3_600_000

afterEach(stopNodes)

test('nobody is in before an administrator says so; the node with the key lets itself in', async () => {
  const clock = createManualClock()
  const [home, far] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  await clock.advance(1)
  expect(home.trust.mayUse(home.signer.peerId)).toBe(true)
  expect(far.trust.mayUse(home.signer.peerId)).toBe(false)
  expect(far.trust.mayUse(far.signer.peerId)).toBe(true)
  tell(home, far)
  expect(far.trust.mayUse(home.signer.peerId)).toBe(true)
  expect(home.trust.mayUse(far.signer.peerId)).toBe(false)
})

test('who is shut out is out everywhere, and an older statement does not bring it back', async () => {
  const clock = createManualClock()
  const [home, far] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  const bad = createSigner(systemRandom.bytes(32)).peerId
  administrationOf(home).setMember(bad, 'admitted')
  const stale = [...home.ledger.snapshot().entries('admission')]
  await clock.advance(1_000)
  administrationOf(home).setMember(bad, 'revoked')
  tell(home, far)
  expect([far.trust.mayUse(bad), far.trust.isBanned(bad)]).toEqual([false, true])
  const key = `${admin.peerId}/member/${bad}`
  const { rejected } = far.ledger.merge(
    stale.filter((each) => each.key === key),
    undefined,
  )
  expect(rejected).toMatchObject([{ code: 'ROLLBACK' }])
  expect(far.trust.isBanned(bad)).toBe(true)
  await clock.advance(1_000)
  administrationOf(home).setMember(bad, 'admitted')
  tell(home, far)
  expect([far.trust.mayUse(bad), far.trust.isBanned(bad)]).toEqual([true, false])
})

test('a revocation stays when its node ran with the old token, and strangers wrote there before', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const thief = createSigner(systemRandom.bytes(32))
  administrationOf(home).setMember(thief.peerId, 'revoked')
  const [statement] = [...home.ledger.snapshot().entries('admission')].filter(({ key }) =>
    key.endsWith(thief.peerId),
  )
  const { key = '' } = statement ?? {}
  const far = openNode(clock)
  // an open bucket takes it: the rule came later than the entry
  const open = createLedger({}, { signer: thief, clock })
  await settle(clock, open.put('admission', key, '"mine"'))
  const junk = required(open.snapshot().get('admission', key))
  await open.stop()
  expect(far.ledger.merge([{ bucket: 'admission', key, entry: junk }], undefined).rejected).toHaveLength(1)
  const policy = far.trust.policies['admission']
  expect(policy?.isValid?.({ bucket: 'admission', key, entry: junk })).toBe(false)
  tell(home, far)
  expect(far.trust.isBanned(thief.peerId)).toBe(true)
})

test.each<[string, (forger: Signer, victim: string) => KeyedEntry]>([
  ['signed by another', (forger, victim) => sign(forger, forger.peerId, victim, NETWORK)],
  [
    "that names the administrator as owner, with another's signature",
    (forger, victim) => sign(forger, admin.peerId, victim, NETWORK),
  ],
  [
    "of another network, with the administrator's own signature",
    (_forger, victim) => sign(admin, admin.peerId, victim, 'ffffffffffffffffffff'),
  ],
])('a statement %s is refused', (_what, forge) => {
  const far = openNode(createManualClock())
  const forger = createSigner(systemRandom.bytes(32))
  const { accepted, rejected } = far.ledger.merge([forge(forger, forger.peerId)], undefined)
  expect([accepted, rejected.length]).toEqual([0, 1])
  expect(far.trust.mayUse(forger.peerId)).toBe(false)
})

test('a tombstone of others does not end a statement', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const bad = createSigner(systemRandom.bytes(32)).peerId
  administrationOf(home).setMember(bad, 'revoked')
  const far = openNode(clock)
  tell(home, far)
  await clock.advance(HOUR)
  const key = `${admin.peerId}/member/${bad}`
  expect(() => far.ledger.delete('admission', key)).toThrow(/belongs to/)
  expect(far.trust.isBanned(bad)).toBe(true)
  far.ledger.reap()
  await clock.advance(HOUR)
  far.ledger.reap()
  expect(far.trust.isBanned(bad)).toBe(true)
})

test('an invite lets one peer in, which the node with the key confirms; nobody uses it again', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const { code } = administrationOf(home).invite({ lifeMs: HOUR })
  const [first, second, far] = [
    openNode(clock, { invite: code }),
    openNode(clock, { invite: code }),
    openNode(clock),
  ]
  tell(home, first)
  await clock.advance(1)
  tell(home, far)
  tell(first, far)
  expect(far.trust.mayUse(first.signer.peerId)).toBe(true)
  tell(first, home)
  await clock.advance(1)
  expect(home.trust.administration?.roster.admitted.has(first.signer.peerId)).toBe(true)
  tell(home, second)
  await clock.advance(1)
  tell(second, home)
  tell(second, far)
  tell(home, far)
  for (const each of [home, far]) {
    expect(each.trust.mayUse(first.signer.peerId)).toBe(true)
    expect(each.trust.mayUse(second.signer.peerId)).toBe(false)
  }
  await clock.advance(2 * HOUR)
  expect(far.trust.mayUse(first.signer.peerId)).toBe(true)
})

test('an invite that two use before it is confirmed lets nobody in until a person decides', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const { code } = administrationOf(home).invite({ lifeMs: HOUR })
  const [first, second, far] = [
    openNode(clock, { invite: code }),
    openNode(clock, { invite: code }),
    openNode(clock),
  ]
  for (const each of [first, second, far]) tell(home, each)
  await clock.advance(1)
  for (const claimant of [first, second]) tell(claimant, far)
  expect([first, second].map(({ signer }) => far.trust.mayUse(signer.peerId))).toEqual([false, false])
  tell(far, home)
  await clock.advance(1)
  expect(administrationOf(home).roster.invites[0]?.claims).toHaveLength(2)
  expect(home.trust.mayUse(second.signer.peerId)).toBe(false)
  administrationOf(home).setMember(second.signer.peerId, 'admitted')
  tell(home, far)
  expect([first, second].map(({ signer }) => far.trust.mayUse(signer.peerId))).toEqual([false, true])
})

test.each<[string, (home: TestNode, invite: PeerId, clock: ManualClock) => Promise<unknown>]>([
  ['ended', (_home, _invite, clock) => clock.advance(2 * HOUR)],
  ['was cancelled', async (home, invite) => administrationOf(home).cancelInvite(invite)],
  [
    'was given to a third',
    async (home) => administrationOf(home).setMember(required(nodes.at(-1)).signer.peerId, 'admitted'),
  ],
])('a claim that one node heard before its invite %s, and one after, is held by both', async (_what, end) => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const { code, invite } = administrationOf(home).invite({ lifeMs: HOUR })
  const [early, late, claimant] = [openNode(clock), openNode(clock), openNode(clock, { invite: code })]
  for (const each of [early, late, claimant]) tell(home, each)
  await clock.advance(1)
  tell(claimant, early)
  await end(home, invite, clock)
  tell(home, late)
  tell(late, early)
  tell(early, late)
  await clock.advance(1)
  expect(digestOf(late)).toBe(digestOf(early))
  expect(late.trust.mayUse(claimant.signer.peerId)).toBe(early.trust.mayUse(claimant.signer.peerId))
})

test('of many claims of one invite all nodes hold the same few, whatever they heard first', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const { code } = administrationOf(home).invite({ lifeMs: HOUR })
  const observers = [openNode(clock), openNode(clock)] as const
  const claimants = Array.from({ length: 9 }, () => openNode(clock, { invite: code }))
  for (const each of [...observers, ...claimants]) tell(home, each)
  await clock.advance(1)
  for (const [at, claimant] of claimants.entries()) tell(claimant, required(observers[at % 2]))
  const [one, two] = observers
  tell(one, two)
  tell(two, one)
  const claims = administrationOf(one).roster.invites[0]?.claims
  const least = claimants
    .map(({ signer }) => signer.peerId)
    .sort()
    .slice(0, 4)
  expect(claims).toEqual(least)
  expect(digestOf(two)).toBe(digestOf(one))
})

test('a claim that comes in one block with its invite is taken', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const { code } = administrationOf(home).invite({ lifeMs: HOUR })
  const claimant = openNode(clock, { invite: code })
  tell(home, claimant)
  await clock.advance(1)
  const [far, early] = [openNode(clock), openNode(clock)]
  expect(tell(claimant, far).rejected).toEqual([])
  expect(far.trust.mayUse(claimant.signer.peerId)).toBe(true)
  const claim = [...claimant.ledger.snapshot().entries('admission')].filter(({ key }) =>
    key.startsWith('claim/'),
  )
  expect(early.ledger.merge(claim, undefined).rejected).toMatchObject([{ code: 'NOT_YET' }])
})

test('of two that one invite let in, each by an administrator in its part, the first one is in everywhere', async () => {
  const clock = createManualClock()
  const otherSeed = systemRandom.bytes(32)
  const administrators = [admin, createSigner(otherSeed)]
  const home = openNode(clock, { administrators, holdsKey: true })
  const other = openNode(clock, { administrators, holdsKey: true, seed: otherSeed })
  const { code } = administrationOf(home).invite({ lifeMs: HOUR })
  const [first, second] = [
    openNode(clock, { administrators, invite: code }),
    openNode(clock, { administrators, invite: code }),
  ]
  for (const each of [other, first, second]) tell(home, each)
  await clock.advance(1)
  tell(second, other)
  await clock.advance(1_000)
  tell(first, home)
  await clock.advance(1)
  expect(other.trust.mayUse(second.signer.peerId)).toBe(true)
  expect(home.trust.mayUse(first.signer.peerId)).toBe(true)
  await settle(clock, first.ledger.put('notes', 'first', '1'))
  await settle(clock, second.ledger.put('notes', 'second', '2'))
  tellAll(first, home)
  tellAll(second, other)
  await meet(clock, [home, other])
  for (const each of [home, other]) {
    const isIn = [first, second].map(({ signer }) => each.trust.mayUse(signer.peerId))
    expect(isIn).toEqual([false, true])
    expect([...each.ledger.snapshot().entries('notes')].map(({ key }) => key)).toEqual(['second'])
  }
  // a person's own word stands beside the invite
  administrationOf(home).setMember(first.signer.peerId, 'admitted')
  await meet(clock, [home, other])
  tellAll(first, other)
  expect(other.trust.mayUse(first.signer.peerId)).toBe(true)
  expect(other.trust.mayUse(second.signer.peerId)).toBe(true)
  // and who is shut out does not leave its invite to the other
  administrationOf(other).setMember(second.signer.peerId, 'revoked')
  await meet(clock, [home, other])
  expect(home.trust.mayUse(second.signer.peerId)).toBe(false)
  expect(home.trust.mayUse(first.signer.peerId)).toBe(true)
})

test('whatever was claimed, said and heard in whichever order, nodes that meet hold the same', async () => {
  const order = fc.array(fc.tuple(fc.nat(99), fc.nat(99), fc.nat(11)), { minLength: 40, maxLength: 60 })
  await fc.assert(
    fc.asyncProperty(order, async (steps) => {
      const clock = createManualClock()
      const otherSeed = systemRandom.bytes(32)
      const administrators = [admin, createSigner(otherSeed)]
      const open = (init: Parameters<typeof openNode>[1]) => openNode(clock, { administrators, ...init })
      const members = [
        open({ holdsKey: true }),
        open({ holdsKey: true, seed: otherSeed }),
        open({}),
        open({}),
      ]
      const [home, other] = [required(members[0]), required(members[1])]
      await clock.advance(1)
      for (const { signer } of members.slice(2)) administrationOf(home).setMember(signer.peerId, 'admitted')
      const { code, invite } = administrationOf(home).invite({ lifeMs: 20_000 })
      const claimants = Array.from({ length: 6 }, () => open({ invite: code }))
      await meet(clock, members)
      for (const each of claimants) tell(home, each)
      const all = [...members, ...claimants]
      for (const [a, b, what] of steps) {
        // administrators' nodes are met seldom, or they would confirm each claim before there is another
        const to = required(members[what === 11 ? b % 2 : 2 + (b % 2)])
        const from = required(all[a % all.length])
        const [claimant, key] = [required(claimants[a % claimants.length]), b % 2 === 0 ? home : other]
        if (what === 0) await clock.advance(a * 100)
        else if (what === 1) administrationOf(key).setMember(claimant.signer.peerId, 'revoked')
        else if (what === 2) administrationOf(key).setMember(claimant.signer.peerId, 'admitted')
        else if (what === 3 && a % 8 === 0) administrationOf(home).cancelInvite(invite)
        else if (what < 6) await settle(clock, from.ledger.put('notes', `k${b % 5}`, `${a}`))
        else tellAll(from, to)
        await clock.advance(1)
      }
      await meet(clock, members)
      const views = members.map(({ trust, ledger }) => ({
        buckets: ledger.snapshot().digest().buckets,
        isIn: claimants.map(({ signer }) => trust.mayUse(signer.peerId)),
      }))
      for (const each of views) expect(each).toEqual(views[0])
      for (const each of nodes.splice(0)) each.trust.stop()
    }),
    { numRuns: 8 },
  )
})

test('an invite that ended or was cancelled lets nobody in, and what was not confirmed ends with it', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const administration = administrationOf(home)
  const short = administration.invite({ lifeMs: HOUR })
  const cancelled = administration.invite({ lifeMs: HOUR })
  const [first, far] = [openNode(clock, { invite: short.code }), openNode(clock)]
  for (const each of [first, far]) tell(home, each)
  await clock.advance(1)
  tell(first, far)
  expect(far.trust.mayUse(first.signer.peerId)).toBe(true)
  let changes = 0
  far.trust.onChange(() => changes++)
  await clock.advance(HOUR + 1)
  expect(far.trust.mayUse(first.signer.peerId)).toBe(false)
  expect(changes).toBeGreaterThan(0)

  const late = openNode(clock, { invite: short.code })
  tell(home, late)
  await clock.advance(1)
  tell(late, far)
  expect(far.trust.mayUse(late.signer.peerId)).toBe(false)
  administration.cancelInvite(cancelled.invite)
  const other = openNode(clock, { invite: cancelled.code })
  tell(home, other)
  await clock.advance(1)
  tell(home, far)
  tell(other, far)
  expect(far.trust.mayUse(other.signer.peerId)).toBe(false)
})

test('entries of who is out are refused, whoever brings them, and it counts as not alive', async () => {
  const clock = createManualClock()
  const [home, bad] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  administrationOf(home).setMember(bad.signer.peerId, 'admitted')
  const beat = JSON.stringify(new Date(clock.now()).toISOString())
  await settle(clock, bad.ledger.put('healthcheck', bad.signer.peerId, beat))
  await settle(clock, bad.ledger.put('dns', 'a.mesh', '{"1":"10.1.0.9"}'))
  const theirs = [...bad.ledger.snapshot().entries()].filter(({ bucket }) => bucket !== 'admission')
  expect(home.ledger.merge(theirs, undefined).accepted).toBe(2)
  expect(home.ledger.snapshot().isOwnerLive(bad.signer.peerId, clock.now())).toBe(true)
  let told = 0
  home.ledger.subscribe(({ type }) => (told += type === 'admission' ? 1 : 0))
  administrationOf(home).setMember(bad.signer.peerId, 'revoked')
  expect(told).toBe(1)
  expect(home.ledger.snapshot().isOwnerLive(bad.signer.peerId, clock.now())).toBe(false)
  await clock.advance(1_000)
  await settle(clock, bad.ledger.put('dns', 'b.mesh', '{"1":"10.1.0.9"}'))
  const names = [...bad.ledger.snapshot().entries('dns')]
  const { rejected } = home.ledger.merge(names, home.signer.peerId)
  expect(rejected).toMatchObject([{ code: 'GATED' }, { code: 'GATED' }])
})

test('only a node with the key says who is in', async () => {
  const far = openNode(createManualClock())
  const peer = createSigner(systemRandom.bytes(32)).peerId
  expect(() => administrationOf(far).setMember(peer, 'revoked')).toThrow(/holds no administrator's key/)
  expect(() => administrationOf(far).invite({})).toThrow(/holds no administrator's key/)
})

test('the node that holds the key does not shut itself out, and goes on to decide', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  await clock.advance(1)
  const administration = administrationOf(home)
  expect(() => administration.setMember(home.signer.peerId, 'revoked')).toThrow(/cannot shut itself out/)
  expect(administration.isRevoked(home.signer.peerId)).toBe(false)
  const peer = createSigner(systemRandom.bytes(32)).peerId
  administration.setMember(peer, 'admitted')
  expect(home.trust.mayUse(peer)).toBe(true)
})

test('of two administrators that shut each other out, both are out everywhere, whoever was heard first', async () => {
  const clock = createManualClock()
  const otherSeed = systemRandom.bytes(32)
  const administrators = [admin, createSigner(otherSeed)]
  const home = openNode(clock, { administrators, holdsKey: true })
  const other = openNode(clock, { administrators, holdsKey: true, seed: otherSeed })
  const [near, far] = [openNode(clock, { administrators }), openNode(clock, { administrators })]
  await clock.advance(1)
  for (const { signer } of [near, far]) administrationOf(home).setMember(signer.peerId, 'admitted')
  for (const each of [near, far]) for (const source of [home, other]) tell(source, each)
  const isIn = (node: TestNode) => [home, other].map(({ signer }) => node.trust.mayUse(signer.peerId))
  expect([isIn(near), isIn(far)]).toEqual([
    [true, true],
    [true, true],
  ])

  // at the same time, in two parts of the network
  administrationOf(home).setMember(other.signer.peerId, 'revoked')
  administrationOf(other).setMember(home.signer.peerId, 'revoked')
  tell(home, near)
  tell(other, far)
  expect([isIn(near), isIn(far)]).toEqual([
    [true, false],
    [false, true],
  ])
  tell(near, far)
  tell(far, near)
  for (const each of [near, far]) {
    expect(isIn(each)).toEqual([false, false])
    expect([home, other].map(({ signer }) => each.trust.isBanned(signer.peerId))).toEqual([true, true])
  }
  expect(near.ledger.snapshot().digest().buckets['admission']).toBe(
    far.ledger.snapshot().digest().buckets['admission'],
  )
  // each is told, and neither word is taken back by the machine that it shuts out
  for (const [one, two] of [
    [home, other],
    [other, home],
  ] as const) {
    tell(near, one)
    expect(administrationOf(one).isRevoked(one.signer.peerId)).toBe(true)
    administrationOf(one).setMember(one.signer.peerId, 'admitted')
    tell(one, near)
    expect(near.trust.mayUse(one.signer.peerId)).toBe(false)
    expect(near.trust.mayUse(two.signer.peerId)).toBe(false)
  }

  // the keys still count: on a machine that is in, each takes back its own word
  const third = openNode(clock, { administrators, holdsKey: true })
  tell(near, third)
  await clock.advance(1_000)
  administrationOf(third).setMember(other.signer.peerId, 'admitted')
  tell(third, far)
  expect(isIn(far)).toEqual([false, true])
})

test('whatever stands in a key and a value, reading it throws nothing', () => {
  const id = fc.constantFrom(admin.peerId, 'claim', 'member', 'invite', '', 'x')
  const key = fc.oneof(
    fc.string(),
    fc.array(id, { maxLength: 4 }).map((parts) => parts.join('/')),
  )
  const value = fc.oneof(
    fc.string(),
    fc.json(),
    fc
      .record({
        Network: fc.constant(NETWORK),
        Peer: id,
        State: id,
        Invite: id,
        ExpiresAt: fc.string(),
        Sig: fc.string(),
        Kept: fc.oneof(fc.string(), fc.json()),
      })
      .map((each) => JSON.stringify(each)),
  )
  fc.assert(
    fc.property(key, value, (drawnKey, drawnValue) => {
      expect(() => readStatement({ network: NETWORK }, drawnKey, drawnValue)).not.toThrow()
    }),
  )
})

test('a claim that is longer than any that a node writes is no statement', async () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const guest = openNode(clock, { invite: administrationOf(home).invite({}).code })
  tell(home, guest)
  await clock.advance(1)
  const [claim] = [...guest.ledger.snapshot().entries('admission')].filter(({ key }) =>
    key.startsWith('claim/'),
  )
  const { key, entry } = required(claim)
  expect(readStatement({ network: NETWORK }, key, entry.value)?.kind).toBe('claim')
  const long = JSON.stringify({ ...JSON.parse(entry.value), More: '<'.repeat(10_000) })
  expect(readStatement({ network: NETWORK }, key, long)).toBeUndefined()
})

function digestOf({ ledger }: TestNode) {
  return ledger.snapshot().digest().buckets['admission']
}

/** A statement that says that a peer is in, signed by whoever is given. */
function sign(signer: Signer, owner: string, peer: string, network: string): KeyedEntry {
  const value = JSON.stringify({ Network: network, Peer: peer, State: 'admitted' })
  const entry = { value, owner, version: 1n, updatedAt: 1, deleted: false, sig: null }
  const unsigned = { bucket: 'admission', key: `${admin.peerId}/member/${peer}`, entry }
  return { ...unsigned, entry: { ...entry, sig: signer.sign(canonicalBytes(unsigned).slice()) } }
}
