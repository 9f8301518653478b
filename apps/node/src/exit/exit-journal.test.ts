import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { isAlive, readJournal, restoreExit, writeJournal } from './exit-journal.ts'

const warn = vi.fn()
const log = { ...silentLogger, warn }
let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-journal-'))
  warn.mockClear()
  // no `ip` and no `nft`: nothing of this machine is touched
  vi.stubEnv('PATH', folder)
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

const damage = (role: string) => writeFileSync(join(folder, `exit-${role}.json`), '{"pid":')

test('what a damaged journal stood for is taken back like that of a node that was killed, and told once', () => {
  damage('use')
  damage('offer')
  restoreExit(folder, log)
  expect(readdirSync(folder).toSorted()).toEqual(['exit-offer.json.damaged', 'exit-use.json.damaged'])
  expect(warn.mock.calls.map(([message]) => message)).toEqual(Array(2).fill('state file is damaged'))
  restoreExit(folder, log)
  expect(warn).toHaveBeenCalledTimes(2)
})

test('where an exit is wanted again the rules stay, and no packet passes in between', () => {
  damage('use')
  restoreExit(folder, log, 5099)
  const journal = readJournal(folder, 'use', log)
  expect(journal).toEqual({ mark: 5099 })
  expect(isAlive(journal)).toBe(false)
})

test("a living node's journal is left as it is", () => {
  writeJournal(folder, 'use', { pid: process.ppid, mark: 7 })
  const text = readFileSync(join(folder, 'exit-use.json'), 'utf8')
  restoreExit(folder, log)
  expect(readFileSync(join(folder, 'exit-use.json'), 'utf8')).toBe(text)
  expect(isAlive(readJournal(folder, 'use', log))).toBe(true)
})

test('the journal of a node that was killed is taken back though another program has its number now', () => {
  writeJournal(folder, 'use', { pid: process.ppid, began: '1', mark: 7 })
  expect(isAlive(readJournal(folder, 'use', log))).toBe(false)
  restoreExit(folder, log)
  expect(readdirSync(folder)).toEqual([])
})
