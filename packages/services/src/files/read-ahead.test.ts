import { mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { BLOCKS_PER_CALL, FILE_BLOCK_BYTES, FILES_READ_AHEAD } from './limits.ts'
import { ReadAhead } from './read-ahead.ts'
import { scanShare } from './scan.ts'

const folders: string[] = []
afterEach(() => {
  for (const folder of folders.splice(0)) rmSync(folder, { recursive: true })
})

const textOf = (blocks: readonly { readonly bytes: Uint8Array }[] | undefined) =>
  blocks === undefined ? 'changed' : Buffer.concat(blocks.map(({ bytes }) => bytes)).toString()

test('the small files behind the one asked for are read, within a bound, and judged like others', async () => {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'mesh-ahead-')))
  folders.push(folder)
  const names = Array.from({ length: FILES_READ_AHEAD + 4 }, (_, at) => `f${String(at).padStart(2, '0')}`)
  for (const name of names) writeFileSync(join(folder, name), name)
  writeFileSync(join(folder, 'f02'), Buffer.alloc(FILE_BLOCK_BYTES + 1))
  writeFileSync(join(folder, 'f04'), '')
  const scan = await scanShare(folder, new AbortController().signal)
  writeFileSync(join(folder, 'f03'), 'another text')
  const ahead = new ReadAhead(scan, { blocksPerCall: BLOCKS_PER_CALL })
  expect(ahead.take(0)).toBeUndefined()
  expect(textOf(await ahead.take(1))).toBe('f01')
  expect(ahead.take(2)).toBeUndefined()
  expect(textOf(await ahead.take(3))).toBe('changed')
  expect(textOf(await ahead.take(4))).toBe('')
  // another order than that of the manifest is served, too
  expect(ahead.take(FILES_READ_AHEAD + 5)).toBeUndefined()
  expect(ahead.take(1)).toBeUndefined()
})
