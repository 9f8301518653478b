// @vitest-environment node
import type { PathReportView } from '@mesh/api-contract'
import { expect, test } from 'vitest'
import { peer } from '../../test/support/fake-node.ts'
import { buildMachines } from './machine.ts'
import {
  buildNetworkMap,
  coverageOf,
  groupBySite,
  lineWidth,
  type MapNode,
  outlinedSites,
  sitesInWords,
} from './network-map.ts'

const NOW = 1_000_000
const at = (address: string) => ({ Addresses: [`/ip4/${address}/udp/4001/quic-v1`] })
const machines = buildMachines({
  self: 'me',
  selfVersion: '',
  selfName: 'atlas',
  nodes: [],
  machines: [],
  peers: [
    peer('nas', 'nas', { ...at('203.0.113.7'), RateIn: 1_000, RateOut: 500 }),
    peer('cabin', 'cabin', { ...at('203.0.113.9'), Path: 'relayed', Relay: 'nas', RoundTripMs: 61 }),
    peer('lea', 'lea', at('198.51.100.4')),
  ],
})
const report = (PeerID: string, AgeMs: number, ...Paths: Partial<PathReportView['Paths'][number]>[]) => ({
  PeerID,
  State: 'told' as const,
  AgeMs,
  More: 0,
  Paths: Paths.map((path) => ({
    PeerID: '',
    Path: 'direct' as const,
    Relay: null,
    RoundTripMs: 9,
    BytesPerSecond: 0,
    ...path,
  })),
})
const build = (...reports: PathReportView[]) =>
  buildNetworkMap({ machines, machinesReadAt: NOW, reports, readAt: NOW })
const link = (map: ReturnType<typeof build>, a: string, b: string) =>
  map.links.find(({ from, to }) => (from === a && to === b) || (from === b && to === a))

test('the paths of this node need no report, and a relayed one goes through its relay', () => {
  const map = build()
  expect(map.nodes.map(({ name, kind }) => `${name} ${kind}`)).toEqual([
    'atlas self',
    'cabin relayed',
    'lea direct',
    'nas direct',
  ])
  expect(map.links).toHaveLength(3)
  expect(link(map, 'me', 'nas')).toMatchObject({ path: 'direct', bytesPerSecond: 1_500, toldBy: 'me' })
  expect(link(map, 'me', 'cabin')).toMatchObject({ path: 'relayed', relay: 'nas', roundTripMs: 61 })
})

test('the paths of this node are as old as its machines, with reports and without', () => {
  const map = buildNetworkMap({ machines, machinesReadAt: NOW, reports: [], readAt: 0 })
  expect(link(map, 'me', 'nas')?.toldAt).toBe(NOW)
})

test('of two ends that tell differently the freshest is shown, once', () => {
  const old = report('nas', 30_000, { PeerID: 'lea', Path: 'relayed', Relay: 'me', RoundTripMs: 80 })
  const fresh = report('lea', 2_000, { PeerID: 'nas', RoundTripMs: 7 })
  for (const reports of [
    [old, fresh],
    [fresh, old],
  ]) {
    const map = build(...reports)
    expect(map.links).toHaveLength(4)
    expect(link(map, 'nas', 'lea')).toMatchObject({
      path: 'direct',
      relay: undefined,
      roundTripMs: 7,
      toldBy: 'lea',
      toldAt: NOW - 2_000,
    })
  }
})

test('paths of and to strangers are left out, and a relay that is no member gets a node', () => {
  const map = build(
    report('stranger', 0, { PeerID: 'nas' }),
    report(
      'nas',
      0,
      { PeerID: 'stranger' },
      { PeerID: 'nas' },
      { PeerID: 'lea', Path: 'relayed', Relay: 'public' },
    ),
  )
  expect(map.links).toHaveLength(4)
  expect(map.nodes.filter(({ kind }) => kind === 'relay').map(({ id }) => id)).toEqual(['public'])
})

test('machines of one site stand behind one node until it is opened', () => {
  const map = build(report('nas', 0, { PeerID: 'cabin' }, { PeerID: 'lea', BytesPerSecond: 40 }))
  const grouped = groupBySite(map, new Set())
  expect(grouped.nodes.map(({ name, count }) => `${name} ${count}`)).toEqual([
    'atlas 1',
    'lea 1',
    '203.0.113.0/24 2',
  ])
  const site = grouped.nodes.at(-1)?.id ?? ''
  expect(link(grouped, site, site)).toBeUndefined()
  expect(link(grouped, 'me', site)).toMatchObject({ path: 'direct', bytesPerSecond: 1_500 })
  expect(link(grouped, 'lea', site)).toMatchObject({ bytesPerSecond: 40 })
  expect(groupBySite(map, new Set(['203.0.113.0/24']))).toEqual(map)
})

test('says how many members told, and how old the oldest of it is', () => {
  const silent = { ...report('lea', 0), State: 'silent' as const, AgeMs: null }
  const reports = [report('me', 0), report('nas', 40_000), report('cabin', 9_000), { ...silent, More: 2 }]
  expect(coverageOf(reports, 'me', NOW)).toEqual({ told: 2, members: 3, oldestAt: NOW - 40_000, more: 2 })
  expect(coverageOf([], 'me', NOW)).toEqual({ told: 0, members: 0, oldestAt: undefined, more: 0 })
})

test('a line grows with its traffic, within bounds', () => {
  const widths = [0, 1e3, 1e5, 1e7, 1e9].map(lineWidth)
  expect(widths).toEqual(widths.toSorted((a, b) => a - b))
  expect(widths.at(0)).toBe(1)
  expect(widths.at(-1)).toBe(6)
})

const nodesOf = (site: string | undefined, count: number): MapNode[] =>
  Array.from({ length: count }, (_, at) => ({
    id: `${site} ${at}`,
    name: '',
    kind: 'direct',
    site,
    count: 1,
  }))

test('on a map of many machines a site of several has an outline', () => {
  const few = [...nodesOf('here', 3), ...nodesOf('there', 1), ...nodesOf(undefined, 36)]
  expect(outlinedSites({ nodes: few, links: [] })).toEqual([])
  const nodes = [...few, ...nodesOf('elsewhere', 1)]
  expect(outlinedSites({ nodes, links: [] })).toEqual([
    { name: 'here', members: ['here 0', 'here 1', 'here 2'] },
  ])
})

test('a site behind one node has no outline, and its machines count', () => {
  const closed: MapNode = { id: 'site', name: 'here', kind: 'site', site: 'here', count: 50 }
  const nodes = [closed, ...nodesOf('open', 2)]
  expect(outlinedSites({ nodes, links: [] }).map(({ name }) => name)).toEqual(['open'])
})

test('the sites of a link are one name where both ends are in one', () => {
  expect(sitesInWords('203.0.113.0/24', '203.0.113.0/24')).toBe('203.0.113.0/24')
  expect(sitesInWords('203.0.113.0/24', undefined)).toBe('203.0.113.0/24 to unknown')
  expect(sitesInWords(undefined, undefined)).toBe('')
})
