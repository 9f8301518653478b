import { silentLogger, systemRandom } from '@mesh/core'
import { createLedger, createSigner, defaultPolicies } from '@mesh/ledger'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { createTrust, type Trust, type TrustInit } from '@mesh/trust'
import { checkPolicy } from '@mesh/trust/rules'
import { createPeerGuard } from '@mesh/trust/node'
import { afterEach, expect, test } from 'vitest'
import { trustMetrics, trustProblems } from './trust-status.ts'

const adminSeed = systemRandom.bytes(32)
const admin = createSigner(adminSeed)
const ends: (() => unknown)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) await end()
})

function open(clock: ManualClock, init: Partial<TrustInit> & { readonly holdsKey?: boolean } = {}) {
  const signer = createSigner(systemRandom.bytes(32))
  const { holdsKey = false, ...about } = init
  const trust = createTrust(
    { self: signer.peerId, network: 'a3aef9821d7c70a7dfd6', administrators: [admin.peerId], ...about },
    {
      signer,
      readAdminSeed: () => (holdsKey ? adminSeed : undefined),
      checkPolicy,
      clock,
      random: systemRandom,
      log: silentLogger,
    },
  )
  const ledger = createLedger(
    { policies: { ...defaultPolicies, ...trust.policies } },
    { signer, clock, admits: (...asked) => trust.admits(...asked) },
  )
  trust.attachLedger(ledger)
  ends.push(
    () => trust.stop(),
    () => ledger.stop(),
  )
  return { trust, ledger, id: signer.peerId }
}

const administrationOf = ({ administration }: Trust) => {
  if (administration === undefined) throw new Error('is not there')
  return administration
}
const codesOf = ({ trust, ledger }: ReturnType<typeof open>) =>
  trustProblems(trust, ledger).map(({ code }) => code)

test('a node says that it waits to be let in, and by whom it was shut out', async () => {
  const clock = createManualClock()
  const [home, far] = [open(clock, { holdsKey: true }), open(clock)]
  await clock.advance(1)
  const tell = () => far.ledger.merge([...home.ledger.snapshot().entries('admission')], undefined)
  expect(codesOf(home)).toEqual([])
  expect(codesOf(far)).toEqual(['trust.not_admitted'])
  administrationOf(home.trust).setMember(far.id, 'admitted')
  tell()
  expect(codesOf(far)).toEqual([])
  await clock.advance(10)
  administrationOf(home.trust).setMember(far.id, 'revoked')
  tell()
  const [problem] = trustProblems(far.trust, far.ledger)
  expect(problem).toMatchObject({ code: 'trust.revoked', severity: 'error' })
  expect(problem?.title).toContain(admin.peerId.slice(-8))
  expect(problem?.hint).toContain(`mesh admin admit ${far.id}`)
  const [metric] = trustMetrics(home.trust, home.ledger)
  expect(metric?.samples).toEqual([
    { labels: { state: 'admitted' }, value: 1 },
    { labels: { state: 'provisional' }, value: 0 },
    { labels: { state: 'waiting' }, value: 0 },
    { labels: { state: 'revoked' }, value: 1 },
    { labels: { state: 'ended' }, value: 0 },
  ])
})

test('a membership that ends soon, has ended or needs approval is told to its node and to administrators', async () => {
  const clock = createManualClock()
  const [home, far] = [open(clock, { holdsKey: true }), open(clock)]
  await clock.advance(1)
  const tell = () => far.ledger.merge([...home.ledger.snapshot().entries('admission')], undefined)
  const DAY = 24 * 3_600_000
  administrationOf(home.trust).setMember(far.id, 'admitted', { forMs: 30 * DAY })
  tell()
  expect([codesOf(home), codesOf(far)]).toEqual([[], []])
  await clock.advance(27.5 * DAY)
  expect([codesOf(home), codesOf(far)]).toEqual([['trust.memberships_end'], ['trust.membership_ends']])
  const [problem] = trustProblems(far.trust, far.ledger)
  expect(problem?.title).toContain('ends in 2 d 12 h')
  expect(trustMetrics(far.trust, far.ledger).map(({ name }) => name)).toContain(
    'mesh_membership_end_timestamp_seconds',
  )
  await clock.advance(3 * DAY)
  expect([codesOf(home), codesOf(far)]).toEqual([[], ['trust.membership_ended']])
  administrationOf(home.trust).setApproval(true)
  const { code } = administrationOf(home.trust).invite({})
  const guest = open(clock, { invite: code })
  const meet = async (from: typeof home, to: typeof home) => {
    to.ledger.merge([...from.ledger.snapshot().entries('admission')], undefined)
    await clock.advance(1)
  }
  await meet(home, guest)
  await meet(guest, home)
  expect([codesOf(guest), codesOf(home)]).toEqual([['trust.awaiting_approval'], ['trust.waiting']])
})

test('a gate that is on with nobody in its trust zone is told of; a node without trust has nothing to tell', async () => {
  const clock = createManualClock()
  const create = createPeerGuard(undefined)
  const guard = {
    enabled: true,
    relaxed: false,
    strict: false,
    autoclean: false,
    livenessMs: 480_000,
    create,
  }
  const node = open(clock, { administrators: [], guard })
  expect(codesOf(node)).toEqual(['trust.empty_zone'])
  expect(trustMetrics(node.trust, node.ledger).map(({ name, samples }) => [name, samples[0]?.value])).toEqual(
    [
      ['mesh_peer_gate_enabled', 1],
      ['mesh_trust_zone_peers', 0],
    ],
  )
  const relaxed = open(clock, { administrators: [], guard: { ...guard, relaxed: true } })
  expect(codesOf(relaxed)).toEqual([])
  // an entry that somebody else wrote counts unless the gate is strict
  const writer = open(clock, { administrators: [] })
  writer.ledger.put('trustzone', writer.id, '""')
  await clock.advance(50)
  for (const strict of [false, true]) {
    const { trust, ledger, id } = open(clock, {
      administrators: [],
      guard: { ...guard, enabled: false, strict },
    })
    ledger.merge([...writer.ledger.snapshot().entries('trustzone')], undefined)
    trust.gate?.set(true)
    expect(codesOf({ trust, ledger, id })).toEqual(strict ? ['trust.empty_zone'] : [])
  }
  expect(trustProblems(undefined, node.ledger)).toEqual([])
  expect(trustMetrics(undefined, node.ledger)).toEqual([])
})
