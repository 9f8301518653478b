// @vitest-environment node
import { expect, test } from 'vitest'
import { CABIN, NAS, peer, SELF } from '../../test/support/fake-node.ts'
import { buildMachines, byAttention, type MachineSources, nameOf, nameOrOwn } from './machine.ts'
import { filterMachines } from './machine-filter.ts'
import { buildSentence } from './overview.ts'

const self = SELF.peerId
const nas = NAS.peerId
const cabin = CABIN.peerId
const record = { OS: 'linux', Arch: 'amd64', Version: '0.1.0', Connected: false, OnChain: true, Online: true }
const online = (id: string) => ({ ID: id, Online: true })

function build(sources: Partial<MachineSources>) {
  return buildMachines({ self, selfVersion: '0.1.0', nodes: [], machines: [], peers: [], ...sources })
}
const sentence = (machines: ReturnType<typeof build>) =>
  buildSentence(machines)
    .map(({ text }) => text)
    .join('')

test('joins what the ledger, the topic and the connections say of one machine', () => {
  const machines = [{ ...record, PeerID: nas, Hostname: 'nas', Address: '10.1.0.5', Addresses: ['10.1.0.5'] }]
  const [me, other] = build({ nodes: [online(self), online(nas)], machines, peers: [peer(nas, '')] })
  expect(me?.reach).toEqual({ kind: 'self' })
  expect(other).toMatchObject({ id: nas, name: 'nas', addresses: ['10.1.0.5'], os: 'linux' })
  expect(other?.reach).toEqual({ kind: 'direct', roundTripMs: 4 })
})

test('a machine without a name is called by its short id', () => {
  const [, other] = build({ nodes: [online(nas)] })
  expect(other).toMatchObject({ name: nas.slice(-8), named: false, reach: { kind: 'indirect' } })
})

test('machines of one name are told apart by their short ids; others are left alone', () => {
  const machines = build({
    selfName: 'NAS',
    nodes: [online(self)],
    peers: [peer(nas, 'nas'), peer(cabin, 'cabin')],
  })
  expect(machines.map(({ name }) => name)).toEqual([
    `NAS (${self.slice(-8)})`,
    'cabin',
    `nas (${nas.slice(-8)})`,
  ])
  expect(nameOf(machines, nas)).toBe(`nas (${nas.slice(-8)})`)
})

test('names that differ by what nobody sees are told apart, and none reorders what stands beside it', () => {
  const machines = build({ peers: [peer(nas, 'na\u200Bs'), peer(cabin, 'nas\u202E')] })
  const names = [nas, cabin].map((id) => nameOf(machines, id))
  expect(names).toEqual(['na\\u200bs', 'nas\\u202e'])
  expect(nameOf(machines, 'x\u2066')).toBe('x\\u2066')
})

test.each(['na\u0455', 'NAS', `nas (${cabin.slice(-8)})`])(
  'the name %j, which looks like one of another machine, has its short id behind it',
  (lookalike) => {
    const machines = build({ peers: [peer(nas, lookalike), peer(cabin, 'nas')] })
    expect(nameOf(machines, nas)).toMatch(new RegExp(` \\(${nas.slice(-8)}\\)$`))
  },
)

test('spaces that a page leaves out, or that are no common ones, are shown as escapes', () => {
  const shown = ['nas ', ' nas', 'n  as', 'nas\u00a0'].map((own) =>
    nameOf(build({ peers: [peer(nas, own)] }), nas),
  )
  const id = `(${nas.slice(-8)})`
  expect(shown).toEqual(['nas\\u0020', '\\u0020nas', `n\\u0020 as ${id}`, 'nas\\u00a0'])
})

test('letters that typefaces draw alike make names alike, and a name may look like a short id', () => {
  const machines = build({ peers: [peer(nas, 'web1'), peer(cabin, 'webl')] })
  expect(nameOf(machines, nas)).toBe(`web1 (${nas.slice(-8)})`)
  const posing = build({ nodes: [online(cabin)], peers: [peer(nas, cabin.slice(-8))] })
  expect(nameOf(posing, nas)).toBe(`${cabin.slice(-8)} (${nas.slice(-8)})`)
})

test('of a long name the beginning is shown, and the id behind it', () => {
  const [, other] = build({ peers: [peer(nas, 'W'.repeat(60_000))] })
  expect(other?.name).toBe(`${'W'.repeat(20)}… (${nas.slice(-8)})`)
})

test('what ends like the id of a machine and is none is not shown as its short id', () => {
  const machines = build({ peers: [peer(nas, '')] })
  expect(nameOf(machines, `x${nas}`)).toBe(`x${nas}`)
})

test('who is not in the list is called as it calls itself, with its short id', () => {
  const machines = build({ peers: [peer(nas, 'nas')] })
  expect(nameOrOwn(machines, cabin, 'nas')).toBe(`nas (${cabin.slice(-8)})`)
  expect(nameOrOwn(machines, nas, 'cabin')).toBe('nas')
  expect(nameOrOwn(machines, cabin, '')).toBe(cabin.slice(-8))
})

test('a node without a record says its version as it connects', () => {
  const versions = ['mesh/0.2.0', 'edgevpn', null].map(
    (Agent) => build({ peers: [peer(nas, 'nas', { Agent })] })[1],
  )
  expect(versions.map((machine) => machine?.version)).toEqual(['0.2.0', 'edgevpn', ''])
})

test('a machine with several addresses is one machine', () => {
  const Addresses = ['10.1.0.5', 'fd00::5']
  const all = build({
    machines: [{ ...record, PeerID: nas, Hostname: 'nas', Address: '10.1.0.5', Addresses }],
  })
  expect(all.map(({ addresses }) => addresses)).toEqual([[], ['10.1.0.5', 'fd00::5']])
})

test('peers that are no members are no machines', () => {
  expect(build({ peers: [peer(nas, 'x', { Member: false })] }).map(({ id }) => id)).toEqual([self])
})

test('who is neither connected nor heard is offline since it was last seen', () => {
  const away = peer(nas, 'nas', { Connected: false, Path: null, LastSeen: '2026-11-21T10:00:00Z' })
  expect(build({ peers: [away] })[1]?.reach).toEqual({
    kind: 'offline',
    lastSeen: Date.UTC(2026, 10, 21, 10),
  })
  const never = peer(nas, 'nas', { Connected: false, Path: null })
  expect(build({ peers: [never] })[1]?.reach).toEqual({ kind: 'offline', lastSeen: undefined })
})

test('relayed machines need more attention than direct ones', () => {
  const machines = build({ peers: [peer(nas, 'a'), peer(cabin, 'b', { Path: 'relayed' })] })
  expect(machines.toSorted(byAttention).map(({ name }) => name)).toEqual(['b', 'a', self.slice(-8)])
})

test('names machines by id, and unknown ones by their short id', () => {
  const machines = build({ peers: [peer(nas, 'nas')] })
  expect(nameOf(machines, nas)).toBe('nas')
  expect(nameOf(machines, cabin)).toBe(cabin.slice(-8))
})

test('the filter takes states, fields and text, all of which must fit', () => {
  const machines = build({
    machines: [{ ...record, PeerID: nas, Hostname: 'Nas', Address: '10.1.0.5', Addresses: ['10.1.0.5'] }],
    peers: [peer(nas, ''), peer(cabin, 'cabin', { Path: 'relayed' })],
  })
  const found = (filter: string) => filterMachines(machines, filter).map(({ name }) => name)
  expect(found('relayed')).toEqual(['cabin'])
  expect(found('os:linux')).toEqual(['Nas'])
  expect(found('direct nas')).toEqual(['Nas'])
  expect(found('direct cabin')).toEqual([])
  expect(found('10.1.0.5')).toEqual(['Nas'])
  expect(found(cabin)).toEqual(['cabin'])
  expect(found('constructor:x')).toEqual([])
  expect(found('  ')).toHaveLength(3)
})

test('the sentence counts states, and says the total only when some are away', () => {
  const relayed = peer(cabin, 'cabin', { Path: 'relayed' })
  expect(sentence(build({ peers: [peer(nas, 'nas'), relayed] }))).toBe(
    '3 machines online, 1 direct, 1 relayed.',
  )
  const away = peer(cabin, 'cabin', { Connected: false, Path: null })
  expect(sentence(build({ peers: [peer(nas, 'nas'), away] }))).toBe('2 of 3 machines online, 1 direct.')
  expect(sentence(build({ nodes: [online(nas)] }))).toBe('2 machines online, 1 via others.')
  expect(sentence(build({ peers: [away] }))).toBe('1 of 2 machines online.')
  expect(sentence(build({}))).toBe('This machine is alone in its network.')
})
