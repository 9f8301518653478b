import { parsePeerId } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { expect, test } from 'vitest'
import { MAX_POOL_SERVICES } from '../limits.ts'
import { findPoolServices, poolBucketOf } from './pool.ts'

const SELF = parsePeerId('12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB')
const OTHER = parsePeerId('12D3KooWLawsRjWp5paY7T7zQuxFEvfY6vFCnv3UmZmWWctptDip')
const NOW = Date.UTC(2026, 10, 28)

/** @param pool values of the bucket by key @param services who offers each, by name */
function find(pool: Readonly<Record<string, unknown>>, services: Readonly<Record<string, string>>) {
  const entries = Object.entries(pool).map(([key, value]) => ({
    bucket: 'worker',
    key,
    entry: { deleted: false, owner: OTHER, value: typeof value === 'string' ? value : JSON.stringify(value) },
  }))
  const ledger = {
    self: SELF,
    snapshot: () => ({
      entries: () => entries,
      getLive: (_: string, name: string) => {
        const owner = services[name]
        return owner && { owner, value: JSON.stringify({ PeerID: owner, Name: name }) }
      },
      isOwnerLive: () => true,
    }),
  }
  const found = findPoolServices('worker', { ledger: ledger as never, clock: createManualClock(NOW) })
  return found.map(({ service }) => service)
}

const seen = (ageMs: number) => ({ Name: 'x', LastSeen: new Date(NOW - ageMs).toISOString() })

test('a pool is a name that ends with /*', () => {
  expect(['worker/*', 'a/b/*', '/*', 'worker', 'worker/x'].map(poolBucketOf)).toEqual([
    'worker',
    'a/b',
    undefined,
    undefined,
    undefined,
  ])
})

test('of a pool those services are used that were seen within 40 s and that another live member offers', () => {
  const pool = { fresh: seen(39_000), old: seen(41_000), own: seen(0), nobody: seen(0), plain: { Name: 'x' } }
  expect(find(pool, { fresh: OTHER, old: OTHER, own: SELF, plain: OTHER })).toEqual(['fresh', 'plain'])
})

test('what any member may write into a pool does no harm', () => {
  const pool = {
    a: '{',
    b: 'null',
    c: { LastSeen: 7 },
    d: { LastSeen: 'then' },
    e: `"${'x'.repeat(10_000)}"`,
  }
  expect(find(pool, { a: OTHER, c: OTHER, d: OTHER, e: OTHER })).toEqual([])
  const many = Object.fromEntries(
    Array.from({ length: MAX_POOL_SERVICES + 9 }, (_, at) => [`${at}!`, seen(0)]),
  )
  const offered = Object.fromEntries(Object.keys(many).map((key) => [key, OTHER]))
  expect(find(many, offered)).toHaveLength(MAX_POOL_SERVICES)
})
