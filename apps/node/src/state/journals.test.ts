import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { expect, onTestFinished, test, vi } from 'vitest'
import * as z from 'zod'
import { createJournals } from './journals.ts'

const schema = z.object({ mark: z.number() })

function opened() {
  const folder = mkdtempSync(join(tmpdir(), 'mesh-journals-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const warn = vi.fn()
  return { folder, warn, journals: createJournals(folder, { ...silentLogger, warn }) }
}

test('keeps journals by name until they are removed', () => {
  const { journals } = opened()
  journals.write('kernel-mesh0', { mark: 1 })
  journals.write('exit-use', { mark: 2 })
  expect(journals.list('kernel-')).toEqual(['kernel-mesh0'])
  expect(journals.read('exit-use', schema, 'hint')).toEqual({ mark: 2 })
  journals.remove('exit-use')
  journals.remove('exit-use')
  expect(journals.read('exit-use', schema, 'hint')).toBeUndefined()
})

test('sets a damaged journal aside, and tells what to do once', () => {
  const { folder, journals, warn } = opened()
  writeFileSync(join(folder, 'exit-use.json'), '{"mark":')
  expect(journals.read('exit-use', schema, 'what to do')).toBe('damaged')
  expect(journals.read('exit-use', schema, 'what to do')).toBeUndefined()
  expect(readdirSync(folder)).toEqual(['exit-use.json.damaged'])
  expect(warn.mock.calls).toEqual([
    ['state file is damaged', { file: join(folder, 'exit-use.json.damaged'), hint: 'what to do' }],
  ])
})

test('without the folder there are no journals', () => {
  const { folder, journals } = opened()
  rmSync(folder, { recursive: true })
  expect(journals.list('')).toEqual([])
})
