import { mkdtempSync, readFileSync, rmSync, statSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { silentLogger } from '@mesh/core'
import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { createLeaseFile } from './lease-file.ts'

let folder = ''
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'mesh-lease-'))
})
afterEach(() => rmSync(folder, { recursive: true }))

it('keeps an address, for the owner only', () => {
  const path = join(folder, 'lease')
  const store = createLeaseFile(path, silentLogger)
  expect(store.read()).toBeUndefined()
  store.write('10.1.0.7')
  store.write('10.1.0.8')
  expect(createLeaseFile(path, silentLogger).read()).toBe('10.1.0.8')
  expect(readFileSync(path, 'utf8')).toBe('10.1.0.8')
  expect(statSync(path).mode & 0o777).toBe(0o600)
})

it('costs no more than the address when the file cannot be kept', () => {
  const warn = vi.fn()
  const store = createLeaseFile(join(folder, 'no', 'lease'), { ...silentLogger, warn })
  store.write('10.1.0.7')
  expect(warn).toHaveBeenCalledOnce()
  expect(store.read()).toBeUndefined()
})
