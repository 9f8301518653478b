import { chmodSync, lchownSync, mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { currentUser } from './file-owners.ts'
import { findSharedPart } from './way-to.ts'

const user = currentUser() ?? { uid: 1000, gid: 1000 }
const isWindows = currentUser() === undefined
let folder = ''
beforeEach(() => {
  folder = realpathSync(mkdtempSync(join(tmpdir(), 'mesh-way-')))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const made = (...names: string[]) => {
  const path = join(folder, ...names)
  mkdirSync(path, { recursive: true, mode: 0o700 })
  return path
}
const sharedPart = (path: string, holdsOthersFiles = false) =>
  findSharedPart(path, user, { holdsOthersFiles })?.path

test.skipIf(isWindows)('every folder to which a chain of links leads is judged', () => {
  made('end', 'state')
  made('middle')
  symlinkSync('../end', join(folder, 'middle', 'second'))
  symlinkSync(join(folder, 'middle', 'second'), join(folder, 'first'))
  const named = join(folder, 'first', 'state')
  expect(sharedPart(named)).toBeUndefined()
  for (const shared of ['end', 'middle']) {
    chmodSync(join(folder, shared), 0o777)
    expect(sharedPart(named)).toBe(join(folder, shared))
    chmodSync(join(folder, shared), 0o1777)
    expect(sharedPart(named)).toBeUndefined()
    chmodSync(join(folder, shared), 0o700)
  }
})

test.skipIf(isWindows)(
  'only folders that hold files of others may be written by others, where owners remove',
  () => {
    const path = made('tmp')
    chmodSync(path, 0o1777)
    expect([sharedPart(path), sharedPart(path, true)]).toEqual([path, undefined])
  },
)

test.skipIf(isWindows)('links that lead in a circle, and folders that are not there, throw', () => {
  symlinkSync('b', join(folder, 'a'))
  symlinkSync('a', join(folder, 'b'))
  expect(() => sharedPart(join(folder, 'a', 'state'))).toThrow(/more than 40 symbolic links/)
  expect(() => sharedPart(join(folder, 'missing'))).toThrow(/ENOENT/)
})

test.skipIf(process.getuid?.() !== 0)(
  'a link of another user is one that leads elsewhere (needs root)',
  () => {
    made('state')
    symlinkSync('state', join(folder, 'link'))
    lchownSync(join(folder, 'link'), 4711, 4711)
    expect(findSharedPart(join(folder, 'link'), user, { holdsOthersFiles: false })).toEqual({
      path: join(folder, 'link'),
      kind: 'symbolic link',
      owner: 4711,
      isOwned: false,
    })
  },
)
