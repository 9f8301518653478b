import type { Entry } from '@mesh/ledger'
import { expect, test } from 'vitest'
import { memberNames } from './member-names.ts'

test('each entry is read once, however often somebody asks for names', () => {
  let reads = 0
  const entryOf = (record: { readonly PeerID: string }) => {
    const entry = { owner: record.PeerID, version: 1n, updatedAt: 0, deleted: false, sig: null }
    const get = () => {
      reads++
      return JSON.stringify(record)
    }
    return Object.defineProperty(entry, 'value', { get }) as Entry
  }
  const rows = [
    { PeerID: 'a', Hostname: 'nas' },
    { PeerID: 'b', Hostname: '' },
    { PeerID: 'c', Hostname: 'phone', Guest: true },
  ].map((record, at) => ({ bucket: 'machines', key: `10.1.0.${at}`, entry: entryOf(record) }))
  const ledger = { snapshot: () => ({ entries: () => rows }) } as never
  // of others than those who are meant nothing is read
  expect([...memberNames(ledger, new Set(['a']))]).toEqual([['a', 'nas']])
  expect(reads).toBe(1)
  for (let time = 0; time < 3; time++) expect([...memberNames(ledger)]).toEqual([['a', 'nas']])
  expect(reads).toBe(rows.length)
})
