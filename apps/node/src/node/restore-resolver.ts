/** Takes back what `--dns-configure` wrote into /etc/resolv.conf: at the end, or at the next start after a crash. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'

export const RESOLV_CONF = '/etc/resolv.conf'

export interface SavedResolver {
  /** The process id of the node that wrote it. */
  readonly pid: number
  readonly written: string
  /** The target of a link, or else the text of a file. */
  readonly link?: string | undefined
  readonly text: string
}

/** Gives the file in the state folder, which outlives a crash, with what stood there before. */
export function recordPath(stateDir: string): string {
  return join(stateDir, 'resolv-conf.json')
}

/**
 * Takes back what a node of this state folder wrote into /etc/resolv.conf, unless that node still runs, or somebody
 * else has written the file since. Does nothing where nothing was written.
 */
export function restoreResolver(stateDir: string, log: Logger, { own = false } = {}): void {
  const record = recordPath(stateDir)
  const saved = readRecord(record)
  if (saved === undefined || (!own && isRunning(saved.pid))) return
  try {
    if (readFileSync(RESOLV_CONF, 'utf8') === saved.written) {
      if (saved.link === undefined) writeFileSync(RESOLV_CONF, saved.text)
      else {
        rmSync(RESOLV_CONF)
        symlinkSync(saved.link, RESOLV_CONF)
      }
      log.info('resolver restored', { by: RESOLV_CONF })
    }
    rmSync(record)
  } catch (error) {
    log.warn('resolver not restored', { error })
  }
}

function readRecord(path: string): SavedResolver | undefined {
  try {
    return JSON.parse(readFileSync(path, 'utf8')) as SavedResolver
  } catch {
    return undefined
  }
}

/** Says whether a process of this id runs, other than this one. */
export function isRunning(pid: number): boolean {
  if (pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch (error) {
    return error instanceof Error && 'code' in error && error.code === 'EPERM'
  }
}
