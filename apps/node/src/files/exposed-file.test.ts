import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { describeExposedFile } from './exposed-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-exposed-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('a file of secrets that others may read is told with the command that closes it', () => {
  const file = join(folder, 'a token')
  writeFileSync(file, 'x')
  chmodSync(file, 0o640)
  expect(describeExposedFile(file)).toMatch(/may read .*: chmod 600 '.*a token'$/)
  chmodSync(file, 0o600)
  expect(describeExposedFile(file)).toBeUndefined()
  expect(describeExposedFile(join(folder, 'missing'))).toBeUndefined()
})

test('a file in or below a folder that others may write is told, unless only owners remove files there', () => {
  mkdirSync(join(folder, 'within'))
  for (const file of [join(folder, 'token'), join(folder, 'within', 'token')]) {
    writeFileSync(file, 'x', { mode: 0o600 })
    chmodSync(folder, 0o777)
    expect(describeExposedFile(file)).toMatch(
      /can put another file in the place of .*token, .*: chmod go-w \S+mesh-exposed-\w+$/,
    )
    chmodSync(folder, 0o1777)
    expect(describeExposedFile(file)).toBeUndefined()
    chmodSync(folder, 0o700)
  }
})

test.skipIf(process.getuid?.() !== 0)('a file or folder of another user is told (needs root)', () => {
  const file = join(folder, 'within', 'token')
  mkdirSync(join(folder, 'within'))
  writeFileSync(file, 'x', { mode: 0o600 })
  chownSync(file, 4711, 4711)
  expect(describeExposedFile(file)).toMatch(
    /belongs to another user .* \(uid 4711\).*: chown 0 .* && chmod 600 /,
  )
  chownSync(file, 0, 0)
  chownSync(join(folder, 'within'), 4711, 4711)
  expect(describeExposedFile(file)).toMatch(/\(uid 4711\), who owns .*: chown 0 \S+within$/)
  chownSync(join(folder, 'within'), 0, 0)
  chownSync(folder, 4711, 4711)
  expect(describeExposedFile(file)).toMatch(/\(uid 4711\), who owns .*: keep it in a folder that is yours/)
})
