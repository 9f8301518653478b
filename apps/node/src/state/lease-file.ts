/**
 * Keeps the leased address, or which ones others had, in a file over restarts (mode 0600). A file that cannot be read or
 * written costs another address, no more.
 */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { Logger } from '@mesh/core'
import type { LeaseStore } from '@mesh/vpn'

export function createLeaseFile(path: string, log: Logger): LeaseStore {
  return {
    read() {
      try {
        return readFileSync(path, 'utf8')
      } catch (error) {
        if (!isMissing(error)) log.warn('lease file not read', { path, error })
        return undefined
      }
    },
    write(text) {
      try {
        writeFileSync(`${path}.new`, text, { mode: 0o600 })
        renameSync(`${path}.new`, path)
      } catch (error) {
        log.warn('lease file not written', { path, error })
      }
    },
  }
}

function isMissing(error: unknown): boolean {
  return error instanceof Error && 'code' in error && error.code === 'ENOENT'
}
