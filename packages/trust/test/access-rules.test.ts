/** The rules in force over a real ledger: whose addresses they are, what changes, and what was refused. */
import { parseCidr, parseIp, silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { afterEach, expect, test } from 'vitest'
import { encodeEntry } from '@mesh/ledger'
import { MAX_TRUST_MESSAGE_BYTES } from '../src/limits.ts'
import { checkPolicy } from '../src/rules/check-policy.ts'
import { type AccessRules, createAccessRules, resolvePolicy } from '../src/rules/index.ts'
import { admin, administrationOf, openNode, settle, stopNodes, tellAll, type TestNode } from './members.ts'

const ends: (() => void)[] = []
afterEach(async () => {
  for (const end of ends.splice(0)) end()
  await stopNodes()
})

/** Two members, of which the second one has an address, a guest, and a network behind it. */
async function openMembers() {
  const clock = createManualClock()
  const [home, far] = [openNode(clock, { holdsKey: true }), openNode(clock)]
  await clock.advance(1)
  administrationOf(home).setMember(far.signer.peerId, 'admitted')
  tellAll(home, far)
  const put = async (bucket: string, key: string, fields: object) =>
    await settle(clock, far.ledger.put(bucket, key, JSON.stringify({ PeerID: far.signer.peerId, ...fields })))
  await put('machines', '10.1.0.2', { Hostname: 'far' })
  await put('machines', '10.1.0.9', { Hostname: 'phone', Guest: true })
  await put('routes', '192.168.7.0/24', {})
  const rules = createAccessRules(
    { self: home.signer.peerId },
    { ledger: home.ledger, source: administrationOf(home), clock, log: silentLogger },
  )
  rules.setVpnRanges([parseCidr('10.1.0.0/24')])
  ends.push(() => rules.stop())
  return { clock, home, far, rules }
}

function allowAll(rules: AccessRules, { signer }: TestNode) {
  const allow = [{ from: [signer.peerId], to: ['*'], on: ['*'] }]
  rules.setNetwork({ policy: checkPolicy({ allow }), names: {} }, { force: true })
}

test('members that come change the compiled rules soon, and only where there are rules', async () => {
  const { clock, home, far, rules } = await openMembers()
  let changes = 0
  rules.onChange(() => changes++)
  tellAll(far, home)
  await clock.advance(1_000)
  expect([changes, rules.packetRules()]).toEqual([0, undefined])
  allowAll(rules, far)
  expect(changes).toBe(1)
  const compiled = rules.packetRules()
  expect(compiled?.rules.ranges).toContainEqual({ range: '10.1.0.2/32', sets: [0] })
  expect(rules.packetRules()).toBe(compiled)
  await settle(clock, far.ledger.put('machines', '10.1.0.3', JSON.stringify({ PeerID: far.signer.peerId })))
  tellAll(far, home)
  expect(changes).toBe(1)
  await clock.advance(1_000)
  expect(changes).toBe(2)
  expect(rules.packetRules()?.rules.ranges).toContainEqual({ range: '10.1.0.3/32', sets: [0] })
})

test('a member that is away keeps the name that it was signed with, and nobody takes it unseen', async () => {
  const { home, far, rules } = await openMembers()
  const away = admin.peerId
  const signed = { policy: checkPolicy({ tags: { db: [away] } }), names: { [away]: 'far' } }
  rules.setNetwork(signed, { force: true })
  const written = checkPolicy({ tags: { db: ['far'] } })
  expect(resolvePolicy(written, rules.namedMembers())).toEqual(signed)
  tellAll(far, home)
  expect(() => resolvePolicy(written, rules.namedMembers())).toThrow(
    expect.objectContaining({ code: 'trust.bad_policy' }),
  )
})

test('refused packets are counted by whose addresses they have', async () => {
  const { home, far, rules } = await openMembers()
  tellAll(far, home)
  allowAll(rules, home)
  const peer = far.signer.peerId
  expect(rules.endpointOf(parseIp('10.1.0.2'))).toEqual({ kind: 'member', peer })
  expect(rules.endpointOf(parseIp('10.1.0.9'))).toEqual({ kind: 'guest', name: 'phone', peer })
  expect(rules.endpointOf(parseIp('10.1.0.77'))).toEqual({ kind: 'route', range: '10.1.0.77/32' })
  expect(rules.endpointOf(parseIp('1.1.1.1'))).toEqual({ kind: 'exit' })
  const packets = { source: parseIp('10.1.0.9'), destination: parseIp('1.1.1.1'), protocol: 6 }
  rules.notePackets({ ...packets, port: 22, count: 2 })
  rules.notePackets({ ...packets, port: 23, count: 1 })
  const files = { kind: 'files' } as const
  rules.noteRefusal({ from: { kind: 'member', peer }, to: { kind: 'exit' }, on: files })
  expect(rules.refusals.total).toBe(4)
  expect(rules.refusals.all()).toMatchObject([
    { from: { kind: 'member' }, on: 'files', count: 1 },
    { from: { kind: 'guest' }, on: 'tcp 23', count: 3 },
  ])
  for (let at = 0; at < 1_000; at++) {
    const range = parseCidr(`10.9.${at >> 8}.${at & 255}/32`)
    rules.noteRefusal({ from: { kind: 'route', range }, to: { kind: 'exit' }, on: files })
  }
  expect([rules.refusals.total, rules.refusals.all().length]).toEqual([1_004, 256])
})

test('what is behind a member counts for whether two may talk', async () => {
  const { home, far, rules } = await openMembers()
  const [self, peer] = [home.signer.peerId, far.signer.peerId]
  const allow = [{ from: [self], to: ['route:192.168.7.5/32'], on: ['tcp:80'] }]
  rules.setNetwork({ policy: checkPolicy({ allow }), names: {} })
  expect(rules.mayTalk(self, peer)).toBe(false)
  tellAll(far, home)
  expect(rules.mayTalk(peer, self)).toBe(true)
  rules.setNetwork({
    policy: checkPolicy({ allow: [{ ...allow[0], to: ['route:192.168.8.0/24'] }] }),
    names: {},
  })
  expect(rules.mayTalk(self, peer)).toBe(false)
})

test('the longest policy that is signed fits into one message of the trust protocol', async () => {
  const { home, rules } = await openMembers()
  const sign = (count: number) => {
    const words = Array.from({ length: 64 }, (_, at) => `tcp:${at + 1}`)
    const allow = Array.from({ length: count }, () => ({ from: ['*'], to: ['*'], on: words }))
    rules.setNetwork({ policy: checkPolicy({ allow }), names: {} })
  }
  let most = 0
  expect(() => {
    for (let count = 70; ; count++) {
      sign(count)
      most = count
    }
  }).toThrow(expect.objectContaining({ code: 'trust.policy_too_large' }))
  expect(most).toBeGreaterThan(50)
  const held = [...home.ledger.snapshot().entries('admission')].find(({ key }) => key.endsWith('/rules'))
  if (held === undefined) throw new Error('it is there')
  expect(encodeEntry(held.entry).length + held.key.length).toBeLessThan(MAX_TRUST_MESSAGE_BYTES - 1_024)
})
