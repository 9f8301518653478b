/** Takes back what `--dns-configure` wrote into /etc/resolv.conf: at the end, or at the next start after a crash. */
import { readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'
import * as z from 'zod'
import { isRunning, processFields } from '../state/process-record.ts'
import { readStateFile } from '../state/state-file.ts'

export const RESOLV_CONF = '/etc/resolv.conf'

/** The file's content before a node wrote it, and which process that was. */
export const savedResolver = z.object({
  ...processFields,
  written: z.string(),
  /** The target of a link, or else the text of a file. */
  link: z.string().optional(),
  text: z.string(),
})

export type SavedResolver = Readonly<z.infer<typeof savedResolver>>

/** Gives the file in the state folder, which outlives a crash, with what stood there before. */
export function recordPath(stateDir: string): string {
  return join(stateDir, 'resolv-conf.json')
}

/** Gives the file's content before a node of this state folder wrote it; undefined where nothing was written. */
export function readSavedResolver(stateDir: string, log: Logger): SavedResolver | undefined {
  const file = recordPath(stateDir)
  const saved = readStateFile({ file, schema: savedResolver, log, hint: DAMAGED })
  return saved === 'damaged' ? undefined : saved
}

/**
 * Takes back what a node of this state folder wrote into /etc/resolv.conf, unless that node still runs, or somebody
 * else has written the file since. Does nothing where nothing was written.
 */
export function restoreResolver(stateDir: string, log: Logger, { own = false } = {}): void {
  const saved = readSavedResolver(stateDir, log)
  if (saved === undefined || (!own && isRunning(saved))) return
  try {
    if (readFileSync(RESOLV_CONF, 'utf8') === saved.written) {
      if (saved.link === undefined) writeFileSync(RESOLV_CONF, saved.text)
      else {
        rmSync(RESOLV_CONF)
        symlinkSync(saved.link, RESOLV_CONF)
      }
      log.info('resolver restored', { by: RESOLV_CONF })
    }
    rmSync(recordPath(stateDir))
  } catch (error) {
    log.warn('resolver not restored', { error })
  }
}

const DAMAGED = `What stood in ${RESOLV_CONF} before a node with --dns-configure wrote it is not known any more. If its first name server is that node's, write the machine's own there again.`
