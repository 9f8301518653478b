/**
 * The exit that was chosen while the node ran. It holds over restarts, until the node is started with another `--exit-node`
 * than it was started with when that was chosen.
 */
import { readFileSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Logger } from '@mesh/core'
import type { Settings } from '../settings/options.ts'
import { EXIT_MARK } from './limits.ts'

interface KeptChoice {
  /** The value of `--exit-node` at the start; null: none. */
  readonly given: string | null
  /** The choice; null: none. */
  readonly wanted: string | null
}

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
  const kept = file === undefined ? undefined : readChoice(file)
  return {
    settings: kept?.given === given ? withExit(settings, kept.wanted ?? undefined) : settings,
    keep(wanted) {
      if (file === undefined) return
      const choice: KeptChoice = { given, wanted: wanted ?? null }
      try {
        if (choice.wanted === given) rmSync(file, { force: true })
        else writeFileSync(file, JSON.stringify(choice), { mode: 0o600, flush: true })
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
  return { ...rest, exitNode: wanted, fwmark: settings.fwmark === 0 ? EXIT_MARK : settings.fwmark }
}

function readChoice(file: string): KeptChoice | undefined {
  try {
    const { given, wanted } = JSON.parse(readFileSync(file, 'utf8')) as Record<string, unknown>
    const isName = (value: unknown): value is string | null => value === null || typeof value === 'string'
    return isName(given) && isName(wanted) ? { given, wanted } : undefined
  } catch {
    return undefined
  }
}
