import { spawnSync } from 'node:child_process'
import { mkdtempSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger, systemRandom } from '@mesh/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { openIdentity } from '../state/identity.ts'
import { acquireInstanceLock } from '../state/instance-lock.ts'
import { readStateBytes, readStateText } from './read-state-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-read-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const place = (name: string) => join(folder, name)
const why = process.platform === 'win32' ? ' (skipped: Windows has no pipes among files)' : ''
const makePipe = (name: string) => expect(spawnSync('mkfifo', [place(name)]).status).toBe(0)

test('a file is read, over a symbolic link where links are followed', () => {
  writeFileSync(place('a'), 'text')
  symlinkSync(place('a'), place('link'))
  expect(readStateText(place('link'))).toBe('text')
  expect(() => readStateBytes(place('link'), { followsLinks: false })).toThrow(/ELOOP/)
  expect(() => readStateText(folder)).toThrow(/EISDIR/)
})

test.skipIf(why !== '')(`a pipe is not waited for, and a device is not read${why}`, () => {
  makePipe('pipe')
  symlinkSync('/dev/zero', place('zero'))
  for (const name of ['pipe', 'zero']) expect(() => readStateText(place(name))).toThrow(/pipe or a device/)
})

test.skipIf(why !== '')(`a pipe in the place of an identity is told, one of the pid makes way${why}`, () => {
  makePipe('identity')
  expect(() => openIdentity(folder, systemRandom, silentLogger)).toThrow(
    expect.objectContaining({
      code: 'node.bad_identity',
      hint: expect.stringContaining('restore it from a copy') as string,
    }),
  )
  makePipe('pid')
  const lock = acquireInstanceLock(folder, 'node')
  expect(lock.isInPlace()).toBe(true)
  expect(readStateText(place('pid'))).toBe(`${process.pid}\n`)
  lock.release()
})

test('a file of the state folder without end is not held in memory', () => {
  writeFileSync(place('identity'), '')
  truncateSync(place('identity'), 1024 ** 3)
  expect(() => openIdentity(folder, systemRandom, silentLogger)).toThrow(
    expect.objectContaining({
      code: 'node.bad_identity',
      cause: expect.objectContaining({ message: expect.stringMatching(/more than/) as string }) as Error,
    }),
  )
})
