import type { OptionName } from './options.ts'
import type { ResolvedSettings } from './resolved-settings.ts'

/** The settings that one check looks at. */
export interface Judged extends ResolvedSettings {
  isGiven(name: OptionName): boolean
  /** The option as the person wrote it, or the flag. */
  placeOf(name: OptionName): string
  refuse(name: OptionName, expected: string): void
}
