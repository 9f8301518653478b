import { expect, test } from 'vitest'
import { MAX_PATH_BYTES } from './limits.ts'
import type { ManifestEntry } from './manifest.ts'
import { PackedEntries } from './packed-entries.ts'

test('entries come back as they were added, over many blocks, with the longest path and the largest numbers', () => {
  const added: ManifestEntry[] = Array.from({ length: 3_000 }, (_, at) => ({
    path: `ü☀${at}`.padEnd(at % 200, 'x'),
    isFolder: at % 3 === 0,
    size: at * 2 ** 40,
    modifiedMs: at % 2 === 0 ? 1_764_000_000_123 : 0,
    isExecutable: at % 5 === 0,
  }))
  added.push({ ...(added[1] as ManifestEntry), path: 'é'.repeat(MAX_PATH_BYTES / 2) })
  added.push({ ...(added[1] as ManifestEntry), size: Number.MAX_SAFE_INTEGER })
  const packed = new PackedEntries()
  for (const entry of added) packed.add(entry)
  expect([...packed]).toEqual(added)
  expect(packed).toHaveLength(added.length)
  expect([packed.at(2_999), packed.at(added.length)]).toEqual([added[2_999], undefined])
})
