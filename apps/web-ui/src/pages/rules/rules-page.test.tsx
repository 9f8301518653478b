import type { RulesCheckView, RulesView } from '@mesh/api-contract'
import { eventually } from '@mesh/testkit'
import { fireEvent, screen, within } from '@testing-library/react'
import { expect, test } from 'vitest'
import { CABIN, createFakeNode, type FakeNode, NAS, refusal } from '../../../test/support/fake-node.ts'
import { createPageSuite, text, type } from '../../../test/support/page-suite.tsx'

const { open } = createPageSuite()
const ok = (body: unknown) => () => ({ status: 200, body })
const region = (name: string) => screen.findByRole('region', { name })
const nas = { Word: NAS.peerId, Name: 'nas' }
const cabin = { Word: CABIN.peerId, Name: 'cabin' }

const POLICY: RulesCheckView['Policy'] = { default: 'refuse', groups: {}, tags: {}, allow: [], tests: [] }
const TEXT = 'default: refuse\nallow:\n  - { from: [cabin], to: [nas], on: [tcp:22] }\n'
const IN_FORCE: RulesView = {
  Network: {
    Serial: 7,
    Administrator: CABIN.peerId,
    SignedAt: '2026-01-01T00:00:00Z',
    Policy: POLICY,
    Names: {},
    Text: TEXT,
  },
  Own: null,
  CanSign: true,
  Table: [{ From: [cabin], To: [nas], On: ['tcp:22'] }],
  More: false,
  Refused: [{ From: nas, To: cabin, On: 'tcp 80', Count: 3, LastAt: '2026-01-01T00:00:00Z' }],
}
const CHECK: RulesCheckView = {
  Policy: POLICY,
  Names: {},
  TextWithIds: '',
  Tests: [{ From: 'a', To: 'b', On: 'icmp', Expect: 'allow', Passed: true, Sentence: 'a may reach b' }],
  Changes: [{ From: [cabin], To: [nas], Before: ['tcp:22'], After: [] }],
  More: false,
  CutsOff: false,
}
const SCHEMA = {
  properties: { allow: { items: { properties: { from: { description: 'Who may begin.' } } } } },
}

function withRules(rules: Partial<RulesView> = {}, check: Partial<RulesCheckView> = {}): FakeNode {
  const node = createFakeNode()
  node.answer('/api/rules', ok({ ...IN_FORCE, ...rules }))
  node.answer('/api/rules/schema', ok(SCHEMA))
  node.answer('POST /api/rules/check', ok({ ...CHECK, ...check }))
  return node
}

test('the page shows who reaches what, and what was refused', async () => {
  open(withRules(), '/access/rules')
  await text(/Policy 7 is in force/)
  const table = within(await region('Who reaches what'))
  expect(table.getAllByRole('cell').map(({ textContent }) => textContent)).toEqual(['cabin', 'nas', 'tcp:22'])
  within(await region('Refused by this node')).getByText('3')
})

test('without a policy, and without the key, it says how things are and where they are changed', async () => {
  const node = withRules({
    Network: null,
    CanSign: false,
    Table: [],
    Refused: [],
    Own: { File: '/etc/rules', Policy: POLICY, Text: TEXT },
  })
  open(node, '/access/rules')
  await text(/every member reaches everything/)
  within(await region('Rules of this node alone')).getByText('/etc/rules')
  await text(/mesh admin init/)
  expect(screen.queryByLabelText('Policy')).toBeNull()
})

test('a policy is checked, its difference shown, and then it is signed', async () => {
  const node = withRules()
  node.answer('PUT /api/rules', ok({ Serial: 8, Administrator: CABIN.peerId, SignedAt: '' }))
  open(node, '/access/rules')
  await screen.findByLabelText('Policy')
  expect(screen.queryByRole('button', { name: 'Sign this policy' })).toBeNull()
  type('Policy', 'allow: [{ from: [')
  await text(/Who may begin/)
  type('Policy', 'default: refuse')
  fireEvent.click(screen.getByRole('button', { name: 'Check' }))
  await text('1 of 1 pass.')
  const changes = within(await screen.findByRole('table', { name: 'What changes' }))
  expect(changes.getAllByRole('cell').map(({ textContent }) => textContent)).toEqual([
    'loses',
    'cabin',
    'nas',
    'tcp:22',
    'nothing',
  ])
  fireEvent.click(screen.getByRole('button', { name: 'Sign this policy' }))
  await eventually(() =>
    expect(node.bodies.get('PUT /api/rules')).toBe('{"Text":"default: refuse","Serial":7,"Force":false}'),
  )
})

test('a policy whose tests fail is not signed, and one with other text is checked again', async () => {
  const failed = {
    From: 'a',
    To: 'b',
    On: 'icmp',
    Expect: 'allow',
    Passed: false,
    Sentence: 'a may not reach b',
  }
  open(withRules({}, { Tests: [failed as RulesCheckView['Tests'][number]] }), '/access/rules')
  fireEvent.click(await screen.findByRole('button', { name: 'Check' }))
  await text(/a may not reach b/)
  const button = screen.getByRole('button', { name: 'Sign this policy' })
  expect((button as HTMLButtonElement).disabled).toBe(true)
  type('Policy', 'default: allow')
  expect(screen.queryByRole('button', { name: 'Sign this policy' })).toBeNull()
})

test('a policy that cuts this node off is signed after a question, and faults name their fields', async () => {
  const node = withRules({}, { CutsOff: true })
  node.answer('PUT /api/rules', () =>
    refusal(409, 'trust.policy_changed', 'policy 8 is in force', 'Read it.'),
  )
  open(node, '/access/rules')
  fireEvent.click(await screen.findByRole('button', { name: 'Check' }))
  fireEvent.click(await screen.findByRole('button', { name: 'Sign this policy' }))
  await text('Sign a policy that cuts this node off?')
  expect(node.requests).not.toContain('PUT /api/rules')
  fireEvent.click(screen.getByRole('button', { name: 'Sign it' }))
  await text('policy 8 is in force')
  const Issues = [{ Field: 'allow[0].on[0]', Value: 'tcp:x', Expected: 'tcp:PORT' }]
  node.answer('POST /api/rules/check', () =>
    refusal(400, 'trust.bad_policy', 'the policy has faults', '', { Issues }),
  )
  type('Policy', 'allow: x')
  fireEvent.click(screen.getByRole('button', { name: 'Check' }))
  await text('allow[0].on[0]')
})

test('a machine says who reaches it, where a policy limits that', async () => {
  const node = createFakeNode()
  const machine = { PeerID: NAS.peerId, Hostname: 'nas', OS: '', Arch: '', Address: '', Version: '' }
  node.answer(
    '/api/machines',
    ok([{ ...machine, Addresses: [], OnChain: true, Connected: true, Online: true }]),
  )
  node.answer('/api/rules/who', (query) => ({
    status: 200,
    body: {
      To: nas,
      Everybody: query.get('to') !== NAS.peerId,
      Reached: [{ From: cabin, On: ['icmp', 'tcp:22'] }],
    },
  }))
  open(node, `/machines/${NAS.peerId}`)
  const panel = await screen.findByRole('complementary', { name: 'nas' })
  expect(await within(panel).findByText('cabin on icmp, tcp:22')).toBeDefined()
})
