import { execFileSync, spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { commands } from '../cli/commands.ts'
import { flagOf, optionsOf } from '../settings/options.ts'
import { buildManPages } from './man-pages.ts'

const pages = buildManPages('1.2.3', '2026-11-28')

test('there is a page for mesh and for each command, with all its options', () => {
  expect(pages.size).toBe(commands.length + 1)
  const page = pages.get('mesh-ledger-get.1') ?? ''
  expect(page).toMatch(/^\.TH "MESH\\-LEDGER\\-GET" 1 "2026\\-11\\-28" "mesh 1\.2\.3"/)
  for (const name of optionsOf('ledger get')) expect(page).toContain(flagOf(name).replaceAll('-', '\\-'))
})

test('man warns of nothing', (context) => {
  if (spawnSync('groff', ['--version']).status !== 0) return context.skip('groff is not on this machine')
  for (const text of pages.values()) {
    const { stderr } = spawnSync('groff', ['-man', '-Tutf8', '-ww', '-z'], { input: text, encoding: 'utf8' })
    expect(stderr).toBe('')
  }
  const shown = execFileSync('groff', ['-man', '-Tascii'], {
    input: pages.get('mesh.1') ?? '',
    encoding: 'utf8',
  })
  expect(shown).toContain('sudo mesh')
})
