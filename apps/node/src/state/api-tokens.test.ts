import {
  chmodSync,
  chownSync,
  existsSync,
  mkdtempSync,
  readFileSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { changeTokenFile, openApiTokens, readTokenToSend } from './api-tokens.ts'

let folder: string
let file: string
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-api-tokens-'))
  file = join(folder, 'api.tokens')
})
afterEach(() => {
  vi.restoreAllMocks()
  rmSync(folder, { recursive: true })
})

function write(text: string, mode = 0o600): void {
  writeFileSync(file, text)
  chmodSync(file, mode)
}

function open() {
  const clock = createManualClock()
  const warnings: string[] = []
  const log = { ...silentLogger, warn: (message: string) => void warnings.push(message) }
  return { clock, warnings, opened: openApiTokens(file, { clock, log }) }
}

test('a token that is taken out of the file, or whose file is gone, lets nobody in', async () => {
  write('read a\nadmin b boss\n')
  const { opened, clock } = open()
  const levels = async () => {
    await clock.advance(300)
    return opened.current().map(({ level }) => level)
  }
  expect(await levels()).toEqual(['read', 'admin'])
  write('read a\n')
  expect(await levels()).toEqual(['read'])
  rmSync(file)
  expect(await levels()).toEqual([])
  expect(opened.problems()).toMatchObject([{ code: 'api.bad_token_file', severity: 'error' }])
  write('write c\n')
  expect(await levels()).toEqual(['write'])
  expect(opened.problems()).toEqual([])
})

test('what could not be read once is read again, though the file has not changed since', async () => {
  write('read a\n')
  const owner = 12_345
  const isRoot = process.geteuid?.() === 0
  if (isRoot) chownSync(file, owner, owner)
  const user = vi.spyOn(process, 'geteuid').mockReturnValue(isRoot ? owner : statSync(file).uid)
  const { opened, clock, warnings } = open()
  user.mockReturnValue(owner + 1)
  writeFileSync(file, 'read a\nread b\n')
  for (let look = 0; look < 3; look++) {
    await clock.advance(300)
    expect(opened.current()).toEqual([])
  }
  expect(warnings).toHaveLength(1)
  user.mockReturnValue(isRoot ? owner : statSync(file).uid)
  await clock.advance(300)
  expect(opened.current()).toHaveLength(2)
  expect(opened.problems()).toEqual([])
})

test('a wrong line ends the start, and later lets nobody in beside the others, and is told without its text', async () => {
  write('read a\nroot secret\n')
  expect(() => open()).toThrow(/line 2/)
  write('read a\n')
  const { opened, clock } = open()
  write('read a\nroot secret\n')
  await clock.advance(300)
  expect(opened.current()).toHaveLength(1)
  const [problem] = opened.problems()
  expect(problem?.title).toContain('line 2')
  expect(JSON.stringify(problem)).not.toContain('secret')
})

test('a file that others may write is refused, at the start and later; one that they may read is warned of', async () => {
  write('read a\n', 0o666)
  expect(() => open()).toThrow(/other users of this machine may write/)
  write('read a\n', 0o644)
  const { opened, clock, warnings } = open()
  expect(warnings).toEqual([expect.stringContaining('chmod 600')])
  chmodSync(file, 0o620)
  await clock.advance(300)
  expect(opened.current()).toEqual([])
  // a hash is nobody's token
  write(`read sha256:${'0'.repeat(64)} x\n`, 0o644)
  expect(open().warnings).toEqual([])
  expect(() => openApiTokens(join(folder, 'none'), { clock, log: silentLogger })).toThrow(/cannot read/)
})

test('the file is changed as a whole, keeps comments and mode, and is made for its owner alone', () => {
  changeTokenFile(file, (lines) => [...lines, 'read a one'])
  expect(statSync(file).mode & 0o777).toBe(0o600)
  writeFileSync(file, '# mine\n\nread a one\n')
  chmodSync(file, 0o640)
  changeTokenFile(file, (lines) => [...lines, 'admin b two'])
  expect(readFileSync(file, 'utf8')).toBe('# mine\n\nread a one\nadmin b two\n')
  expect(statSync(file).mode & 0o777).toBe(0o640)
  const thrown = () =>
    changeTokenFile(file, () => {
      throw new Error('changed its mind')
    })
  expect(thrown).toThrow('changed its mind')
  expect(existsSync(`${file}.${process.pid}`)).toBe(false)
})

test('a link is followed and stays a link', () => {
  const link = join(folder, 'link')
  write('read a one\n')
  symlinkSync(file, link)
  changeTokenFile(link, (lines) => [...lines, 'admin b two'])
  expect(readFileSync(file, 'utf8')).toBe('read a one\nadmin b two\n')
})

test('what a command sends is the token of the file, or the strongest in plain text', () => {
  write('mesh_abc\n')
  expect(readTokenToSend(file)).toBe('mesh_abc')
  write(`admin sha256:${'0'.repeat(64)} x\nread a\nwrite b\n`)
  expect(readTokenToSend(file)).toBe('b')
  write(`admin sha256:${'0'.repeat(64)} x\n`)
  expect(() => readTokenToSend(file)).toThrow(/holds no token/)
})
