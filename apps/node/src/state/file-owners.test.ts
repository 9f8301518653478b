import { chmodSync, chownSync, lchownSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import {
  describeExposedFile,
  foreignLinkOwner,
  isForeign,
  isReplaceableByOthers,
  isWritableByOthers,
  linkTarget,
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

test('what is in a folder may be replaced by its mode, but not where only owners remove files, and by its owner', () => {
  const shared = (mode: number, gid = 1000) => isReplaceableByOthers({ mode, uid: 1000, gid }, user)
  expect(isReplaceableByOthers({ mode: 0o40700, uid: 1001, gid: 1001 }, user)).toBe(true)
  expect(isReplaceableByOthers({ mode: 0o40700, uid: 1001, gid: 1001 }, { ...user, sudoUid: 1001 })).toBe(
    false,
  )
  expect(isWritableByOthers({ mode: 0o41777, uid: 1000, gid: 1000 }, user)).toBe(true)
  expect([0o40700, 0o40755, 0o41777].map((mode) => shared(mode))).toEqual([false, false, false])
  expect(shared(0o40777)).toBe(true)
  // a umask of 002 and a group of one's own
  expect(shared(0o40775)).toBe(false)
  expect(shared(0o40775, 100)).toBe(true)
})

test('a file of secrets that others may read is told with the command that closes it', () => {
  const file = join(folder, 'a token')
  writeFileSync(file, 'x')
  chmodSync(file, 0o640)
  expect(describeExposedFile(file)).toMatch(/may read .*: chmod 600 '.*a token'$/)
  chmodSync(file, 0o600)
  expect(describeExposedFile(file)).toBeUndefined()
  expect(describeExposedFile(join(folder, 'missing'))).toBeUndefined()
  chmodSync(folder, 0o777)
  expect(describeExposedFile(file)).toMatch(
    /can put another file in the place of .*a token, .*: chmod go-w \S+mesh-owners-\w+$/,
  )
  chmodSync(folder, 0o1777)
  expect(describeExposedFile(file)).toBeUndefined()
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

test.skipIf(process.getuid?.() !== 0)('a file and a link of another user are told (needs root)', () => {
  const [file, link] = [join(folder, 'token'), join(folder, 'link')]
  writeFileSync(file, 'x', { mode: 0o600 })
  symlinkSync(file, link)
  chownSync(file, 4711, 4711)
  lchownSync(link, 4711, 4711)
  expect(describeExposedFile(file)).toMatch(
    /belongs to another user .* \(uid 4711\).*: chown 0 .* && chmod 600 /,
  )
  expect(foreignLinkOwner(link)).toBe(4711)
})
