/** Small files of the state folder, for their owner only. */
import { renameSync, writeFileSync } from 'node:fs'
import { readStateText } from './read-state-file.ts'

/**
 * Writes a file (mode 0600) whole or not at all, also where the power fails.
 * @throws Error of the file system; what stood there before stays then
 */
export function replaceFile(path: string, text: string): void {
  writeFileSync(`${path}.new`, text, { mode: 0o600, flush: true })
  renameSync(`${path}.new`, path)
}

/** Undefined where there is no such file. @throws Error of the file system */
export function readIfThere(path: string): string | undefined {
  try {
    return readStateText(path)
  } catch (error) {
    if (error instanceof Error && 'code' in error && error.code === 'ENOENT') return undefined
    throw error
  }
}
