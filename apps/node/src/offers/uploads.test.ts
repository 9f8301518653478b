import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MAX_UPLOAD_BYTES } from '@mesh/api-contract'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { Uploads } from './uploads.ts'

let folder: string
let offered: string[][]
let uploads: Uploads

beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-uploads-'))
  offered = []
  uploads = new Uploads(join(folder, 'uploads'), async (...offer) => void offered.push(offer))
})
afterEach(() => rmSync(folder, { recursive: true }))

const send = (name: string, text: string, from: number, totalBytes: number) =>
  uploads.take({ name, bytes: Buffer.from(text), from, totalBytes })

test('offers a file when its last piece has come', async () => {
  expect(await send('a.txt', 'hello ', 0, 11)).toEqual({
    Name: 'a.txt',
    State: 'receiving',
    Bytes: 6,
    TotalBytes: 11,
  })
  expect(offered).toEqual([])
  expect(await send('a.txt', 'world', 6, 11)).toMatchObject({ State: 'offered', Bytes: 11 })
  const [[name, path = ''] = []] = offered
  expect([name, readFileSync(path, 'utf8')]).toEqual(['a.txt', 'hello world'])
})

test('an empty file is whole with its first piece', async () => {
  expect(await send('empty', '', 0, 0)).toMatchObject({ State: 'offered' })
})

test('a piece that does not follow is refused with the byte where to go on', async () => {
  await send('a', '12', 0, 4)
  await expect(send('a', '5', 3, 4)).rejects.toMatchObject({
    code: 'files.wrong_piece',
    issues: [{ field: 'from', value: '3', expected: '2' }],
  })
  await expect(send('a', '345', 2, 4)).rejects.toMatchObject({ code: 'files.wrong_piece' })
  expect(await send('a', 'new!', 0, 4)).toMatchObject({ State: 'offered' })
})

test.each(['../a', 'a/b', '..', '.', 'a\\b', 'a\nb', 'x'.repeat(300)])('%j is no name of a file', (name) =>
  expect(send(name, 'x', 0, 1)).rejects.toMatchObject({ code: 'services.bad_name' }),
)

test('files that are too large for the node or its disk are refused', async () => {
  await expect(send('a', 'x', 0, MAX_UPLOAD_BYTES + 1)).rejects.toMatchObject({ code: 'files.too_large' })
  expect(existsSync(join(folder, 'uploads'))).toBe(false)
})

test('two pieces of one file are not written at once', async () => {
  const first = send('a', 'one', 0, 3)
  await expect(send('a', 'two', 0, 3)).rejects.toMatchObject({ code: 'files.too_many' })
  await first
})

test('forgets the copy, and nothing that lies elsewhere', async () => {
  await send('a', 'x', 0, 1)
  const [[, path = ''] = []] = offered
  uploads.forget(folder)
  expect(existsSync(path)).toBe(true)
  uploads.forget(path)
  expect(existsSync(path)).toBe(false)
})

test('old parts and copies that nobody offers go, and the others stay', async () => {
  await send('kept', 'x', 0, 1)
  await send('part', 'x', 0, 2)
  const [[, path = ''] = []] = offered
  const later = Date.now() + 2 * 86_400_000
  uploads.sweep([path], Date.now())
  expect(await send('part', 'y', 1, 2)).toMatchObject({ State: 'offered' })
  uploads.sweep([path], later)
  expect(existsSync(path)).toBe(true)
  expect(offered.slice(1).some(([, other = '']) => existsSync(other))).toBe(false)
})
