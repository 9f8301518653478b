/**
 * The exit that was chosen while the node ran. It holds over restarts, until the node is started with another `--exit-node`
 * than it was started with when that was chosen.
 */
import { rmSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'
import * as z from 'zod'
import type { Settings } from '../settings/options.ts'
import { readStateFile, writeStateFile } from '../state/state-file.ts'
import { DEFAULT_MARK } from '../settings/derived-defaults.ts'

export const keptChoice = z.object({
  /** The value of `--exit-node` at the start; null: none. */
  given: z.string().nullable(),
  /** The choice; null: none. */
  wanted: z.string().nullable(),
})

const DAMAGED =
  'The exit that was chosen while the node ran is forgotten, and --exit-node decides again: choose it anew by `mesh exit-node`.'

export interface KeptExit {
  /** The settings of the start, with the exit that was chosen. */
  readonly settings: Settings
  /** Keeps another choice; undefined: no exit. */
  keep(wanted: string | undefined): void
}

/** @param folder undefined: nothing is kept over a restart */
export function openKeptExit(folder: string | undefined, settings: Settings, log: Logger): KeptExit {
  const file = folder === undefined ? undefined : join(folder, 'exit-choice.json')
  const given = settings.exitNode ?? null
  const read =
    file === undefined ? undefined : readStateFile({ file, schema: keptChoice, log, hint: DAMAGED })
  const kept = read === 'damaged' ? undefined : read
  return {
    settings: kept?.given === given ? withExit(settings, kept.wanted ?? undefined) : settings,
    keep(wanted) {
      if (file === undefined) return
      const choice = { given, wanted: wanted ?? null } satisfies z.infer<typeof keptChoice>
      try {
        if (choice.wanted === given) rmSync(file, { force: true })
        else writeStateFile(file, choice)
      } catch (error) {
        log.warn('exit choice is not kept', { file, error })
      }
    },
  }
}

/** The mark stays without an exit, so that one can be chosen again. */
function withExit(settings: Settings, wanted: string | undefined): Settings {
  const { exitNode: _, ...rest } = settings
  if (wanted === undefined) return { ...rest, exitNode: undefined }
  // these came later, and contradict it
  if (settings.advertiseExit || settings.router !== undefined) return settings
  return { ...rest, exitNode: wanted, fwmark: settings.fwmark === 0 ? DEFAULT_MARK : settings.fwmark }
}
