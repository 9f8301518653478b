/** Where the administrator's key of a network is kept on this machine, and reading it. */
import { join } from 'node:path'
import { type Logger, toError } from '@mesh/core'
import type { Settings } from '../settings/options.ts'
import { readKeyFile } from './identity.ts'

export function adminKeyFile({ adminKey }: Settings, stateDir: string, networkId: string): string {
  return adminKey ?? join(stateDir, networkId, 'admin.key')
}

/** Gives a reader of the key's seed, which is undefined while there is no such file; what is wrong is logged once. */
export function createAdminKeyReader(file: string, log: Logger): () => Uint8Array | undefined {
  let told = false
  return () => {
    try {
      return readKeyFile(file, log)?.seed
    } catch (error) {
      if (!told) log.warn("the administrator's key cannot be read", { file, reason: toError(error).message })
      told = true
      return undefined
    }
  }
}
