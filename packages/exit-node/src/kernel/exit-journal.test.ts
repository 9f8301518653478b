import { silentLogger } from '@mesh/core'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DAMAGE, ENDED, playJournals, RUNNING } from '../../test/played-journals.ts'
import { isAlive, readJournal, restoreExit, writeJournal } from './exit-journal.ts'

let journals = playJournals()
beforeEach(() => {
  journals = playJournals()
  // no `ip` and no `nft`: nothing of this machine is touched
  vi.stubEnv('PATH', '/nowhere')
})
afterEach(() => vi.unstubAllEnvs())

test('what a damaged journal stood for is taken back like that of a node that was killed', () => {
  journals.kept.set('exit-use', DAMAGE).set('exit-offer', DAMAGE)
  restoreExit(journals, silentLogger)
  expect([journals.kept.size, journals.told.length]).toEqual([0, 2])
})

test('where an exit is wanted again the rules stay, and no packet passes in between', () => {
  journals.kept.set('exit-use', DAMAGE)
  restoreExit(journals, silentLogger, 5099)
  const journal = readJournal(journals, 'use')
  expect(journal).toEqual({ mark: 5099 })
  expect(isAlive(journals, journal)).toBe(false)
})

test("a living node's journal is left as it is", () => {
  writeJournal(journals, 'use', { ...RUNNING, mark: 7 })
  restoreExit(journals, silentLogger)
  expect(readJournal(journals, 'use')).toEqual({ ...RUNNING, mark: 7 })
  expect(isAlive(journals, readJournal(journals, 'use'))).toBe(true)
})

test('the journal of a node that was killed is taken back', () => {
  writeJournal(journals, 'use', { ...ENDED, mark: 7 })
  expect(isAlive(journals, readJournal(journals, 'use'))).toBe(false)
  restoreExit(journals, silentLogger)
  expect(journals.kept.size).toBe(0)
})
