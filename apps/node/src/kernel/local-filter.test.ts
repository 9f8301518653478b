import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import type { Cidr } from '@mesh/core'
import { silentLogger } from '@mesh/core'
import { createManualClock } from '@mesh/testkit'
import { afterEach, beforeEach, expect, test, vi } from 'vitest'
import { MEND_MS } from '../exit/limits.ts'
import { createLocalFilter, localTable, restoreKernel } from './local-filter.ts'

let folder = ''
beforeEach(() => {
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
  const filter = createLocalFilter(folder, { clock, log: silentLogger })
  filter.set('mesh0', [])
  const stood = readdirSync(folder)
  rmSync(join(folder, 'table'))
  await clock.advance(MEND_MS)
  await expect.poll(() => readdirSync(folder), { timeout: 30_000 }).toEqual(stood)
  filter.clear()
  await clock.advance(MEND_MS)
  expect([readdirSync(folder), clock.pending]).toEqual([['nft'], 0])
})

test('without nftables there is no interface, and the error says what to do', () => {
  vi.stubEnv('PATH', folder)
  const filter = createLocalFilter(folder, { clock: createManualClock(), log: silentLogger })
  expect(() => filter.set('mesh0', [])).toThrow(
    expect.objectContaining({
      code: 'kernel.no_nftables',
      hint: 'Install nftables, or start with --wireguard engine.',
    }),
  )
  filter.clear()
  expect(readdirSync(folder)).toEqual([])
})

test('what a killed node left is taken away, and what a living one has is not', () => {
  vi.stubEnv('PATH', folder)
  const journal = (pid: number, name: string) =>
    writeFileSync(join(folder, `kernel-${name}.json`), JSON.stringify({ pid, interface: name }))
  journal(2 ** 22 + 1, 'mesh0')
  journal(process.ppid, 'mesh1')
  restoreKernel(folder, silentLogger)
  expect(readdirSync(folder)).toEqual(['kernel-mesh1.json'])
})

test('a damaged journal is told with what to type, and hides no other', () => {
  vi.stubEnv('PATH', folder)
  const warn = vi.fn()
  writeFileSync(join(folder, 'kernel-a.json'), 'null')
  writeFileSync(join(folder, 'kernel-b.json'), '{"pid":"1","interface":{}}')
  writeFileSync(join(folder, 'kernel-mesh0.json'), JSON.stringify({ pid: 2 ** 22 + 1, interface: 'mesh0' }))
  restoreKernel(folder, { ...silentLogger, warn })
  expect(readdirSync(folder).toSorted()).toEqual(['kernel-a.json.damaged', 'kernel-b.json.damaged'])
  expect(warn).toHaveBeenCalledWith('state file is damaged', {
    file: join(folder, 'kernel-a.json.damaged'),
    hint: expect.stringContaining('`ip link delete dev a`'),
  })
})
