import { mkdtempSync, readdirSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import * as z from 'zod'
import { readStateFile, writeStateFile } from './state-file.ts'

const warn = vi.fn()
const log = { ...silentLogger, warn }
const hint = 'Do this.'
let folder = ''
let file = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-state-'))
  file = join(folder, 'a.json')
  warn.mockClear()
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

const read = () => readStateFile({ file, schema: z.object({ pid: z.int().positive() }), log, hint })

test('reads what was written, for its owner alone, and nothing where nothing was', () => {
  expect(read()).toBeUndefined()
  writeStateFile(file, { pid: 7 })
  expect(read()).toEqual({ pid: 7 })
  expect(statSync(file).mode & 0o777).toBe(0o600)
  expect(readdirSync(folder)).toEqual(['a.json'])
  expect(warn).not.toHaveBeenCalled()
})

test.each(['', '{"pid":', 'null', '[]', '{"pid":"7"}', '{"pid":-1}', '{}'])(
  'sets %j aside, and says what to do',
  (text) => {
    writeFileSync(file, text)
    expect(read()).toBe('damaged')
    expect(warn).toHaveBeenCalledExactlyOnceWith('state file is damaged', { file: `${file}.damaged`, hint })
    expect(readFileSync(`${file}.damaged`, 'utf8')).toBe(text)
    expect(read()).toBeUndefined()
  },
)

test('a file that cannot be read stays, and is told', () => {
  file = folder
  expect(read()).toBe('damaged')
  expect(warn).toHaveBeenCalledExactlyOnceWith('state file not read', {
    file,
    hint,
    error: expect.objectContaining({ code: 'EISDIR' }),
  })
})
