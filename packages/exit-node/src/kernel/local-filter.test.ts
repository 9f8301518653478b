import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cidr } from '@mesh/core'
import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { DAMAGE, ENDED, playJournals, RUNNING } from '../../test/played-journals.ts'
import { MEND_MS } from '../limits.ts'
import { createLocalFilter, localTable, restoreKernel } from './local-filter.ts'

let folder = ''
let journals = playJournals()
beforeEach(() => {
  journals = playJournals()
  folder = mkdtempSync(join(tmpdir(), 'mesh-filter-'))
})
afterEach(() => {
  vi.unstubAllEnvs()
  rmSync(folder, { recursive: true, force: true })
})

test('nothing comes in from the interface but what is for this node', () => {
  const text = localTable('mesh0', ['10.1.0.1/32', 'fd00::1/128', '192.168.7.0/24'] as Cidr[])
  expect(text.split('\n').map((line) => line.trim())).toEqual([
    'table inet mesh_kernel_mesh0 {}',
    'delete table inet mesh_kernel_mesh0',
    'table inet mesh_kernel_mesh0 {',
    'chain prerouting {',
    'type filter hook prerouting priority raw; policy accept;',
    'iifname != "mesh0" accept',
    'ip daddr 10.1.0.1/32 accept',
    'ip6 daddr fd00::1/128 accept',
    'ip daddr 192.168.7.0/24 accept',
    'drop',
    '}',
    '}',
    '',
  ])
})

test('a table that another program flushes is set again', async () => {
  const tool =
    '#!/bin/sh\n[ "$1" = -f ] && { while read -r _; do :; done; : > "$STATE/table"; exit 0; }; [ "$1" = delete ] && exec /bin/rm "$STATE/table"; [ -e "$STATE/table" ]\n'
  writeFileSync(join(folder, 'nft'), tool, { mode: 0o755 })
  vi.stubEnv('PATH', folder)
  vi.stubEnv('STATE', folder)
  const clock = createManualClock()
  const filter = createLocalFilter(journals, { clock, log: silentLogger })
  filter.set('mesh0', [])
  const stood = readdirSync(folder)
  rmSync(join(folder, 'table'))
  await clock.advance(MEND_MS)
  await expect.poll(() => readdirSync(folder), { timeout: 30_000 }).toEqual(stood)
  filter.clear()
  await clock.advance(MEND_MS)
  expect([readdirSync(folder), journals.kept.size, clock.pending]).toEqual([['nft'], 0, 0])
})

test('without nftables there is no interface, and the error says what to do', () => {
  vi.stubEnv('PATH', folder)
  const filter = createLocalFilter(journals, { clock: createManualClock(), log: silentLogger })
  expect(() => filter.set('mesh0', [])).toThrow(
    expect.objectContaining({
      code: 'kernel.no_nftables',
      hint: 'Install nftables, or start with --wireguard engine.',
    }),
  )
  filter.clear()
  expect(journals.kept.size).toBe(0)
})

test('what a killed node left is taken away, and what a living one has is not', () => {
  vi.stubEnv('PATH', folder)
  journals.write('kernel-mesh0', { ...ENDED, interface: 'mesh0' })
  journals.write('kernel-mesh1', { ...RUNNING, interface: 'mesh1' })
  restoreKernel(journals, silentLogger)
  expect([...journals.kept.keys()]).toEqual(['kernel-mesh1'])
})

test('a damaged journal is told with what to type, and hides no other', () => {
  vi.stubEnv('PATH', folder)
  journals.kept.set('kernel-a', DAMAGE)
  journals.write('kernel-b', { pid: '1', interface: {} })
  journals.write('kernel-mesh0', { ...ENDED, interface: 'mesh0' })
  restoreKernel(journals, silentLogger)
  expect(journals.kept.size).toBe(0)
  expect(journals.told).toEqual([
    expect.stringContaining('`ip link delete dev a`'),
    expect.stringContaining('`ip link delete dev b`'),
  ])
})
