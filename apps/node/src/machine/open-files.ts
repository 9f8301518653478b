/** How many files, sockets included, this process has open, of those that the system allows it. */
import { readdirSync, readFileSync } from 'node:fs'

export interface OpenFiles {
  readonly open: number
  readonly allowed: number
}

/** Undefined where the system does not say. */
export function readOpenFiles(): OpenFiles | undefined {
  const allowed = allowedFiles()
  if (allowed === undefined) return undefined
  try {
    return { open: readdirSync('/proc/self/fd').length, allowed }
  } catch (error) {
    // to look takes one, too
    const { code } = error as NodeJS.ErrnoException
    return code === 'EMFILE' || code === 'ENFILE' ? { open: allowed, allowed } : undefined
  }
}

/** The limit as it was when it could be read last. */
let known: number | undefined

/** The limit of this process, which `prlimit` may raise while it runs. */
function allowedFiles(): number | undefined {
  try {
    const [, soft] = /^Max open files\s+(\d+)/m.exec(readFileSync('/proc/self/limits', 'utf8')) ?? []
    if (soft !== undefined) known = Number(soft)
  } catch {
    // no procfs, or no file left to read it with
  }
  return known
}
