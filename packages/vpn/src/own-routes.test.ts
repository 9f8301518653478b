import type { Entry } from '@mesh/ledger'
import { expect, test } from 'vitest'
import { announceRoutes } from './own-routes.ts'

test('what is left of an earlier run is ended, and networks of others are not read for that', () => {
  let reads = 0
  const rowOf = (key: string, owner: string, peer: string) => {
    const entry = { owner, version: 1n, updatedAt: 0, deleted: false, sig: null }
    const get = () => {
      reads++
      return JSON.stringify({ PeerID: peer, Metric: 0 })
    }
    return { bucket: 'routes', key, entry: Object.defineProperty(entry, 'value', { get }) as Entry }
  }
  const self = '12D3KooWA4Xop1JaT3MHxwYMkCepYsv4iPVopMXwCz5iHYdBfeSB'
  const others = Array.from({ length: 100 }, (_, at) => rowOf(`10.9.${at}.0/24`, 'another', 'another'))
  // without ownership an entry is of whom it names
  const own = [rowOf('10.8.0.0/24', self, self), rowOf('10.8.1.0/24', '', self)]
  const ended: string[] = []
  const ledger = {
    self,
    snapshot: () => ({ entries: (bucket: string) => (bucket === 'routes' ? [...others, ...own] : []) }),
    delete: (_bucket: string, key: string) => void ended.push(key),
  }
  announceRoutes({}, { ledger, announce: () => () => {}, clock: {} } as never)
  expect(ended).toEqual(['10.8.0.0/24', '10.8.1.0/24'])
  // its length, and what it says
  expect(reads).toBe(2)
})
