// @vitest-environment node
import type { ApiEvent } from '@mesh/api-contract'
import { expect, test } from 'vitest'
import { affectedBy } from './affected.ts'
import { feedEntriesOf } from './feed.ts'

const change = (Bucket: string, Key: string, more = {}) => ({
  Bucket,
  Key,
  Owner: 'me',
  Version: 1n,
  Deleted: false,
  Origin: 'remote' as const,
  ...more,
})
const changed = (Changes: ReturnType<typeof change>[], More = 0): ApiEvent => ({
  id: '1',
  type: 'ledger.changed',
  data: { Block: 8, Changes, More },
})

test('a changed key makes old its bucket, the digest, and the read of that bucket', () => {
  const affected = affectedBy([
    changed([change('dns', 'a'), change('notes', 'b'), change('notes', 'c', { Deleted: true })]),
  ])
  expect([...affected.routes].toSorted()).toEqual(['getDigest', 'listDns', 'resolveName'])
  const keys = new Map([
    ['dns', new Map([['a', false]])],
    [
      'notes',
      new Map([
        ['b', false],
        ['c', true],
      ]),
    ],
  ])
  expect(affected.keys).toEqual(keys)
  expect(affected.all).toBe(false)
})

test('a heartbeat makes nothing old but its own key', () => {
  const affected = affectedBy([changed([change('healthcheck', 'me')])])
  expect([...affected.routes]).toEqual([])
  expect([...affected.keys.keys()]).toEqual(['healthcheck'])
})

test('a bucket named like a property of objects is a bucket like any other', () => {
  expect([...affectedBy([changed([change('__proto__', 'x'), change('constructor', 'y')])]).routes]).toEqual([
    'getDigest',
  ])
})

test('changes that are not named, and gaps, make everything old', () => {
  expect(affectedBy([changed([], 3)]).all).toBe(true)
  expect(affectedBy([{ id: '1', type: 'gap', data: {} }]).all).toBe(true)
})

test('a block tells its index', () => {
  const data = { Index: 9, Hash: '', Timestamp: '', Changes: 1 }
  expect(affectedBy([{ id: '1', type: 'block.committed', data }]).block).toBe(9)
})

test('who comes and goes makes machines old', () => {
  const routes = affectedBy([{ id: '1', type: 'peer.disconnected', data: { PeerID: 'x' } }]).routes
  expect(routes.has('listPeers')).toBe(true)
  expect(routes.has('listMachines')).toBe(false)
})

test('the feed tells changes of one owner in one bucket together, and no heartbeats', () => {
  const event = changed([
    change('notes', 'a'),
    change('notes', 'b'),
    change('notes', 'c', { Deleted: true }),
    change('healthcheck', 'me'),
  ])
  expect(feedEntriesOf(event, 5).map((entry) => ({ ...entry, id: '' }))).toEqual([
    {
      id: '',
      at: 5,
      kind: 'changed',
      owner: 'me',
      bucket: 'notes',
      key: 'a',
      count: 2,
      deleted: false,
      block: 8,
    },
    {
      id: '',
      at: 5,
      kind: 'changed',
      owner: 'me',
      bucket: 'notes',
      key: 'c',
      count: 1,
      deleted: true,
      block: 8,
    },
  ])
})
