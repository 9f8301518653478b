import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { afterEach, beforeEach, expect, test } from 'vitest'
import type { Settings } from '../settings/options.ts'
import { openKeptExit } from './kept-exit.ts'
import { DEFAULT_MARK } from '../settings/derived-defaults.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-kept-'))
})
afterEach(() => rmSync(folder, { recursive: true, force: true }))

function started(exitNode: string | undefined, more: Partial<Settings> = {}) {
  const settings = { exitNode, fwmark: 0, advertiseExit: false, ...more } as Settings
  return openKeptExit(folder, settings, silentLogger)
}

test('a choice holds until the node is started with another exit', () => {
  started('gate').keep('other')
  expect(started('gate').settings).toMatchObject({ exitNode: 'other', fwmark: DEFAULT_MARK })
  expect(started('gate', { fwmark: 7 }).settings).toMatchObject({ exitNode: 'other', fwmark: 7 })
  expect(started('third').settings.exitNode).toBe('third')
  expect(started(undefined).settings.exitNode).toBeUndefined()
})

test('off holds as well, and the mark stays so that an exit can be chosen again', () => {
  started('gate').keep(undefined)
  expect(started('gate', { fwmark: DEFAULT_MARK }).settings).toMatchObject({
    exitNode: undefined,
    fwmark: DEFAULT_MARK,
  })
})

test('what the node was started with is no choice, and leaves no file', () => {
  started('gate').keep('other')
  started('gate').keep('gate')
  expect(readdirSync(folder)).toEqual([])
})

test('a choice that contradicts later options, and a file that is none, count for nothing', () => {
  started(undefined, { fwmark: 7 }).keep('gate')
  expect(started(undefined, { advertiseExit: true }).settings.exitNode).toBeUndefined()
  expect(started(undefined, { router: '10.1.0.1' }).settings.exitNode).toBeUndefined()
  for (const text of ['', '{}', '[]', '{"given":null,"wanted":5}']) {
    writeFileSync(join(folder, 'exit-choice.json'), text)
    expect(started(undefined).settings.exitNode).toBeUndefined()
  }
})

test('nothing is kept without a folder', () => {
  const settings = { exitNode: 'gate' } as Settings
  openKeptExit(undefined, settings, silentLogger).keep('other')
  expect(openKeptExit(undefined, settings, silentLogger).settings).toBe(settings)
})
