/**
 * Keeps the leased address, or which ones others had, in a file over restarts (mode 0600). A file that cannot be read or
 * written costs another address, no more.
 */
import type { Logger } from '@mesh/core'
import type { LeaseStore } from '@mesh/vpn'
import { readIfThere, replaceFile } from '../files/replace-file.ts'

export function createLeaseFile(path: string, log: Logger): LeaseStore {
  return {
    read() {
      try {
        return readIfThere(path)
      } catch (error) {
        log.warn('lease file not read', { path, error })
        return undefined
      }
    },
    write(text) {
      try {
        replaceFile(path, text)
      } catch (error) {
        log.warn('lease file not written', { path, error })
      }
    },
  }
}
