/** Keeps guests in the instance's folder over restarts. Mode 0600: the node's WireGuard key stands in it. */
import { readFileSync, renameSync, writeFileSync } from 'node:fs'
import type { GuestStore } from '@mesh/vpn'

export function createGuestFile(path: string): GuestStore {
  return {
    read() {
      try {
        return readFileSync(path, 'utf8')
      } catch (error) {
        if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
        throw error
      }
    },
    write(text) {
      writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
      renameSync(`${path}.new`, path)
    },
  }
}
