import { lchownSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  foreignLinkOwner,
  isForeign,
  isWritableByOthers,
  linkTarget,
  mayExchangeFiles,
} from './file-owners.ts'

const user = { uid: 1000, gid: 1000 }
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-owners-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

test('files of the user and of root are not foreign, those of others are', () => {
  expect([1000, 0, 1001].map((uid) => isForeign({ uid }, user))).toEqual([false, false, true])
})

test('files in a folder may be exchanged by its mode, but not where only owners remove files', () => {
  const mayOthers = (mode: number, gid = 1000) => mayExchangeFiles({ mode, uid: 1000, gid }, user)
  expect(isWritableByOthers({ mode: 0o41777, uid: 1000, gid: 1000 }, user)).toBe(true)
  expect([0o40700, 0o40755, 0o41777].map((mode) => mayOthers(mode))).toEqual([false, false, false])
  expect(mayOthers(0o40777)).toBe(true)
  // a umask of 002 and a group of one's own
  expect(mayOthers(0o40775)).toBe(false)
  expect(mayOthers(0o40775, 100)).toBe(true)
})

test('a link is told with what it leads to, and those of the system are none', () => {
  const link = join(folder, 'link')
  symlinkSync('token', link)
  expect(linkTarget(link)).toBe(join(folder, 'token'))
  expect(linkTarget(join(folder, 'missing'))).toBeUndefined()
  expect(linkTarget('/dev/stdin')).toBeUndefined()
})

test('a link of our own is not one of a stranger', () => {
  const link = join(folder, 'link')
  symlinkSync('/dev/null', link)
  expect(foreignLinkOwner(link)).toBeUndefined()
  expect(foreignLinkOwner(join(folder, 'missing'))).toBeUndefined()
})

test.skipIf(process.getuid?.() !== 0)('a link of another user is told (needs root)', () => {
  const link = join(folder, 'link')
  symlinkSync('/dev/null', link)
  lchownSync(link, 4711, 4711)
  expect(foreignLinkOwner(link)).toBe(4711)
})
