/** Tables where several members route one network. */
import { parseCidr, type PeerId, providerKey } from '@mesh/core'
import { expect, test } from 'vitest'
import { createWorld, peerNamed } from '../../test/table-world.ts'
import { buildTable, contestedIn } from './build-table.ts'
import type { PeerReach } from './peer-reach.ts'
import type { TableInput } from './table-input.ts'

const [A, B, C, SELF] = ['a', 'b', 'c', 'self'].map(peerNamed) as [PeerId, PeerId, PeerId, PeerId]
const RANGE = parseCidr('192.168.7.0/24')
const GONE = { isUp: false }

interface Given {
  readonly metrics?: Readonly<Record<PeerId, number>>
  readonly reaches?: Readonly<Record<PeerId, Partial<PeerReach>>>
  readonly held?: PeerId
  readonly from?: readonly PeerId[]
}

/** A owns the key of the network, B and C are beside it. */
function build({ metrics = {}, reaches = {}, held, from = [] }: Given = {}) {
  const world = createWorld().beat(A, 0).beat(B, 0).beat(C, 0).route(RANGE, A, metrics[A])
  for (const peer of [B, C]) {
    const key = providerKey({ bucket: 'routes', name: RANGE, peer })
    world.entry('providers', key, peer, JSON.stringify({ PeerID: peer, Metric: metrics[peer] }))
  }
  // of a service, of another peer than its owner, and of no network
  world.entry('providers', providerKey({ bucket: 'services', name: RANGE, peer: A }), A, '{}')
  world.entry('providers', providerKey({ bucket: 'routes', name: 'web', peer: A }), A, '{}')
  const input: TableInput = {
    snapshot: world.snapshot(),
    now: world.start,
    self: SELF,
    mode: 'enforce',
    livenessMs: 480_000,
    own: [],
    ranges: [parseCidr('10.1.0.0/24')],
    derived: { prefix: parseCidr('fd77::/64'), addressOf: () => expect.unreachable('no machine is there') },
    staticPeers: [],
    admits: () => true,
    router: undefined,
    accept: { any: true, from: new Set(from) },
    reachOf: (peer) => ({ isUp: true, isSteady: true, rttMs: 5, ...reaches[peer] }),
    advertised: [],
    connected: [],
    routed: [],
    remotes: [],
    ...(held !== undefined && { held: [{ peer: held, range: RANGE }] }),
  }
  const table = buildTable(input)
  return { table, router: table.accepted.map(({ peer }) => peer)[0] }
}

test('one of them has the network, and the others stand by', () => {
  const { table, router } = build({ metrics: { [A]: 20, [B]: 10, [C]: 30 } })
  expect(router).toBe(B)
  expect(table.accepted).toEqual([{ range: RANGE, peer: B, metric: 10, inKernel: true }])
  expect(table.standby.map(({ peer }) => peer)).toEqual([A, C])
  expect([...(table.peers.get(B)?.allowed ?? [])]).toEqual([RANGE])
  expect(table.peers.has(A)).toBe(false)
  expect([...contestedIn(table)]).toEqual([B, A, C])
  expect(table.problems).toEqual([])
  expect(table.ignored).toEqual({ badKey: 1 })
})

test('the lower metric goes first, then the one in use, then the shorter round trip', () => {
  const metrics = { [A]: 10, [B]: 10, [C]: 20 }
  expect(build({ metrics, reaches: { [B]: { rttMs: 1 } } }).router).toBe(B)
  expect(build({ metrics, reaches: { [B]: { rttMs: 1 } }, held: A }).router).toBe(A)
  expect(build({ metrics, held: C, reaches: { [B]: { rttMs: 9 } } }).router).toBe(A)
})

test('a router that is lost gives way, and takes the network back when it has been there for a while', () => {
  const metrics = { [A]: 10, [B]: 20, [C]: 30 }
  expect(build({ metrics, held: A, reaches: { [A]: GONE } }).router).toBe(B)
  expect(build({ metrics, held: B, reaches: { [A]: { isSteady: false } } }).router).toBe(B)
  expect(build({ metrics, held: B }).router).toBe(A)
  // where none is reached the first one stays
  expect(build({ metrics, held: A, reaches: { [A]: GONE, [B]: GONE, [C]: GONE } }).router).toBe(A)
})

test('a member that the user named goes before the others, whatever they say', () => {
  const metrics = { [A]: 0, [B]: 500, [C]: 0 }
  expect(build({ metrics, from: [B] }).router).toBe(B)
})
