/** The signed policy over real ledgers: which one counts on which node, whatever others bring. */
import { silentLogger, systemRandom } from '@mesh/core'
import { createSigner } from '@mesh/ledger'
import { createManualClock, type ManualClock } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { signStatement } from '../src/administration/sign-statement.ts'
import { checkPolicy } from '../src/rules/check-policy.ts'
import { createAccessRules } from '../src/rules/index.ts'
import {
  admin,
  administrationOf,
  meet,
  NETWORK,
  openFresh,
  openNode,
  stopNodes,
  tell,
  type TestNode,
} from './members.ts'

const ends: (() => void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) end()
  await stopNodes()
})

const policyOf = (...allow: readonly { from: string[]; to: string[]; on: string[] }[]) => ({
  policy: checkPolicy({ allow }),
  names: {},
})
const serialOf = (node: TestNode) => administrationOf(node).accessPolicy?.serial

function rulesOf(node: TestNode, clock: ManualClock) {
  const { trust, ledger, signer } = node
  const rules = createAccessRules(
    { self: signer.peerId },
    { ledger, source: trust.administration, clock, log: silentLogger },
  )
  ends.push(() => rules.stop())
  return rules
}

test('the newest policy counts on every node that heard it, and on one that comes later', () => {
  const clock = createManualClock()
  const [home, far] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  const rules = rulesOf(far, clock)
  let changes = 0
  rules.onChange(() => changes++)
  expect(rules.packetRules()).toBeUndefined()
  expect(rules.judge(home.signer.peerId, far.signer.peerId, { kind: 'files' }).allowed).toBe(true)
  const from = [home.signer.peerId]
  administrationOf(home).setAccessPolicy(policyOf({ from, to: ['*'], on: ['files'] }))
  tell(home, far)
  expect([serialOf(far), changes]).toEqual([1, 1])
  expect(rules.judge(home.signer.peerId, far.signer.peerId, { kind: 'files' })).toMatchObject({
    allowed: true,
    sentence: expect.stringMatching(/may reach .* on files: rule 1 allows it$/),
  })
  expect(rules.judge(home.signer.peerId, far.signer.peerId, { kind: 'egress' })).toMatchObject({
    allowed: false,
    sentence: expect.stringMatching(/may not reach .* on egress: no rule allows it$/),
  })
  expect(rules.packetRules()?.rules.layers).toEqual([[]])
  administrationOf(home).setAccessPolicy(policyOf())
  expect(serialOf(home)).toBe(2)
  tell(home, far)
  expect(serialOf(openFresh(clock, far))).toBe(2)
})

test('an older policy never comes back, of the same administrator or of another one', () => {
  const clock = createManualClock()
  const otherSeed = systemRandom.bytes(32)
  const administrators = [admin, createSigner(otherSeed)]
  const home = openNode(clock, { holdsKey: true, administrators })
  const other = openNode(clock, { holdsKey: true, seed: otherSeed, administrators })
  const far = openNode(clock, { administrators })
  administrationOf(home).setAccessPolicy(policyOf())
  const old = [...home.ledger.snapshot().entries('admission')].filter(({ key }) => key.endsWith('/rules'))
  tell(home, other)
  administrationOf(other).setAccessPolicy(policyOf())
  administrationOf(other).setAccessPolicy(policyOf())
  tell(other, far)
  tell(home, far)
  expect(serialOf(far)).toBe(3)
  tell(other, home)
  administrationOf(home).setAccessPolicy(policyOf())
  tell(home, far)
  expect(serialOf(far)).toBe(4)
  expect(far.ledger.merge(old, undefined).rejected).toMatchObject([{ code: 'ROLLBACK' }])
  expect(serialOf(far)).toBe(4)
})

test('of two policies with one serial number all nodes choose the same one', async () => {
  const clock = createManualClock()
  const otherSeed = systemRandom.bytes(32)
  const administrators = [admin, createSigner(otherSeed)]
  const nodes = [
    openNode(clock, { holdsKey: true, administrators }),
    openNode(clock, { holdsKey: true, seed: otherSeed, administrators }),
    openNode(clock, { holdsKey: true, administrators }),
    openNode(clock, { administrators }),
  ]
  for (const [at, node] of nodes.slice(0, 3).entries()) {
    await clock.advance(at)
    administrationOf(node).setAccessPolicy(policyOf({ from: ['*'], to: ['*'], on: [`tcp:${at + 1}`] }))
  }
  await meet(clock, nodes)
  const chosen = nodes.map((node) => administrationOf(node).accessPolicy?.policy.allow[0]?.on)
  expect(new Set(chosen.map(String)).size).toBe(1)
})

test('what nobody signed, or no administrator, or under another number, is no policy', () => {
  const clock = createManualClock()
  const far = openNode(clock)
  const stranger = createSigner(systemRandom.bytes(32))
  const value = (serial: unknown, more = {}) =>
    JSON.stringify({ Network: NETWORK, Serial: serial, Policy: { default: 'allow' }, ...more })
  const entry = (signer: typeof admin, init: { valueText: string; version?: bigint; key?: string }) =>
    signStatement({ key: `${signer.peerId}/rules`, existing: undefined, nowMs: clock.now(), ...init }, signer)
  const bad = [
    entry(stranger, { valueText: value(1), version: 1n }),
    entry(stranger, { valueText: value(1), version: 1n, key: `${admin.peerId}/rules` }),
    entry(admin, { valueText: value(1, { Network: 'other' }), version: 1n }),
    entry(admin, { valueText: value('1'), version: 1n }),
    entry(admin, { valueText: value(0), version: 0n }),
    entry(admin, { valueText: value(1, { Policy: { default: 'perhaps' } }), version: 1n }),
  ]
  for (const keyed of bad) expect(far.ledger.merge([keyed], undefined).accepted).toBe(0)
  far.ledger.merge([entry(admin, { valueText: value(1), version: 7n })], undefined)
  expect(serialOf(far)).toBeUndefined()
})

test('tests that fail and a policy that cuts this node off are refused, and so is one that is too large', () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const rules = rulesOf(home, clock)
  const self = home.signer.peerId
  const failing = checkPolicy({ tests: [{ from: self, to: 'exit', on: 'tcp:443', expect: 'allow' }] })
  expect(() => rules.setNetwork({ policy: failing, names: {} }, { force: true })).toThrow(
    expect.objectContaining({ code: 'trust.tests_failed' }),
  )
  expect(() => rules.setNetwork(policyOf())).toThrow(expect.objectContaining({ code: 'trust.cuts_self' }))
  const ids = Array.from({ length: 1_000 }, () => createSigner(systemRandom.bytes(32)).peerId)
  const large = { policy: checkPolicy({ groups: { a: ids, b: ids }, default: 'allow' }), names: {} }
  expect(() => rules.setNetwork(large)).toThrow(expect.objectContaining({ code: 'trust.policy_too_large' }))
  expect(rules.network).toBeUndefined()
  expect(rules.setNetwork(policyOf(), { force: true }).serial).toBe(1)
  expect(rules.network?.serial).toBe(1)
})

test('a node’s own rules narrow what others may ask it for, and nothing else', () => {
  const clock = createManualClock()
  const [home, far] = [openNode(clock), openNode(clock)]
  const rules = rulesOf(home, clock)
  const [self, other] = [home.signer.peerId, far.signer.peerId]
  rules.setOwn(checkPolicy({ allow: [{ from: [other], to: ['*'], on: ['files'] }] }))
  expect(rules.judge(other, self, { kind: 'files' }).allowed).toBe(true)
  expect(rules.judge(other, self, { kind: 'egress' })).toMatchObject({
    allowed: false,
    sentence: expect.stringMatching(/: no rule of its own \(--rules\) allows it$/),
  })
  expect(rules.judge(self, other, { kind: 'egress' }).allowed).toBe(true)
  expect(() => rules.setNetwork(policyOf(), { force: true })).toThrow(
    expect.objectContaining({ code: 'trust.no_admin_key' }),
  )
})

test('members talk when a rule lets either of them, or what is behind them, begin anything', () => {
  const clock = createManualClock()
  const home = openNode(clock, { holdsKey: true })
  const rules = rulesOf(home, clock)
  const self = home.signer.peerId
  const [a, b, c] = [1, 2, 3].map((seed) => createSigner(new Uint8Array(32).fill(seed)).peerId)
  if (a === undefined || b === undefined || c === undefined) throw new Error('three are there')
  rules.setNetwork(
    policyOf(
      { from: [`guest:phone@${a}`], to: [b], on: ['service:x'] },
      { from: [self], to: [c], on: ['icmp'] },
    ),
  )
  expect([rules.mayTalk(a, b), rules.mayTalk(b, a), rules.mayTalk(a, c), rules.mayTalk(c, self)]).toEqual([
    true,
    true,
    false,
    true,
  ])
})
