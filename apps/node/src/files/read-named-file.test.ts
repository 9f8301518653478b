import { spawn, spawnSync } from 'node:child_process'
import { closeSync, mkdtempSync, openSync, rmSync, symlinkSync, truncateSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { MeshError } from '@mesh/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { loadSettings } from '../settings/load-settings.ts'
import { readTokenFile } from '../state/api-tokens.ts'
import { readNetwork } from '../state/network.ts'
import { handedDescriptor, readNamedFile } from './read-named-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-named-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const place = (name: string) => join(folder, name)
const isWindows = process.platform === 'win32'
const why = isWindows ? ' (skipped: Windows has no pipes and devices among files)' : ''

function makePipe(): string {
  expect(spawnSync('mkfifo', [place('pipe')]).status).toBe(0)
  return place('pipe')
}

function failureOf(read: () => unknown): string {
  try {
    read()
  } catch (error) {
    if (error instanceof MeshError) return `${error.message} ${(error.cause as Error | undefined)?.message}`
  }
  return 'nothing was refused'
}

test('a file is read up to its bound, over a symbolic link, too', () => {
  writeFileSync(place('a'), 'text')
  symlinkSync(place('a'), place('link'))
  expect(readNamedFile(place('link'), 4).text).toBe('text')
  expect(() => readNamedFile(place('a'), 3)).toThrow(/more than the 3 bytes/)
  expect(() => readNamedFile(folder, 3)).toThrow(/is a folder|EISDIR|EPERM/)
})

test('no more is read of a long file than the bound', () => {
  writeFileSync(place('long'), '')
  truncateSync(place('long'), 3 * 1024 ** 3)
  expect(() => readNamedFile(place('long'), 1024)).toThrow(/more than the 1024 bytes/)
})

test.skipIf(process.platform !== 'linux')('a file of which the system says no length is read (Linux)', () => {
  expect(readNamedFile('/proc/self/status', 65_536).text).toMatch(/^Name:/)
})

test.skipIf(isWindows)(`every file that a person names is read at once or refused${why}`, () => {
  const pipe = makePipe()
  const surroundings = { environment: { HOME: folder }, workingDirectory: folder }
  const given = (flag: string, text: string) => [{ name: flag, texts: [text], source: `--${flag}` }]
  for (const [file, kind] of [
    [pipe, 'pipe'],
    ['/dev/zero', 'device'],
    ['/dev/urandom', 'device'],
    [folder, 'folder'],
  ] as const) {
    const failures = [
      failureOf(() => readNetwork({ tokenFile: file } as never)),
      failureOf(() => readNetwork({ config: file } as never)),
      failureOf(() => readTokenFile(file)),
      failureOf(() =>
        loadSettings('api', { given: given('defaults', file), positionals: [] } as never, surroundings),
      ),
    ]
    for (const failure of failures) {
      expect(failure).toContain(`it is a ${kind} and not a regular file`)
      expect(failure).toContain(file)
    }
  }
  expect(readNamedFile('/dev/null', 10).text).toBe('')
})

test.skipIf(isWindows)(`paths of descriptors are known, and no others${why}`, () => {
  const numbers = ['/dev/stdin', '/dev/fd/63', '/proc/self/fd/7', '/dev/fd/../fd/5'].map(handedDescriptor)
  expect(numbers).toEqual([0, 63, 7, 5])
  for (const path of ['/dev/zero', '/dev/shm/1', '/dev/fd/x', '/proc/1/fd/3', 'stdin'])
    expect(handedDescriptor(path)).toBeUndefined()
})

test.skipIf(isWindows)(`what the shell hands over may be a pipe, and has the same bound${why}`, () => {
  const pipe = makePipe()
  const readOnce = (script: string) => {
    spawn('sh', ['-c', script, 'sh', pipe], { stdio: 'ignore' })
    const descriptor = openSync(pipe, 'r')
    try {
      return readNamedFile(`/dev/fd/${descriptor}`, 100).text
    } finally {
      closeSync(descriptor)
    }
  }
  expect(readOnce('printf text > "$1"')).toBe('text')
  expect(() => readOnce('cat /dev/zero > "$1"')).toThrow(/more than the 100 bytes/)
  const zero = openSync('/dev/zero', 'r')
  expect(() => readNamedFile(`/dev/fd/${zero}`, 100)).toThrow(/is a device/)
  closeSync(zero)
})

test.skipIf(isWindows)(`a file that was handed over is read from its start, and again${why}`, () => {
  writeFileSync(place('a'), 'text')
  const descriptor = openSync(place('a'), 'r')
  const read = () => readNamedFile(`/dev/fd/${descriptor}`, 100).text
  expect([read(), read()]).toEqual(['text', 'text'])
  closeSync(descriptor)
})
