/** The values that are in force, and where each came from. */
import type { OptionName, Settings } from './options.ts'

export type Level = 'flag' | 'environment' | 'file' | 'default'

/** Where a value came from; for a default `place` is empty, or says which other option made it what it is. */
export interface Source {
  readonly level: Level
  readonly place: string
}

export interface ResolvedSettings {
  readonly settings: Settings
  readonly sources: Readonly<Record<OptionName, Source>>
}
