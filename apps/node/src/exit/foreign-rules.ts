/** Reading what `ip rule show` prints. */
import { FIRST_PREFERENCE } from './limits.ts'

/** How many preferences there are, used or not. */
const PREFERENCES = 9

/** The preferences of this node's rules among those that `ip rule show` printed. */
export function ownPreferences(shown: string): readonly number[] {
  return preferencesOf(shown).filter(isOwn)
}

/** The lines of `ip rule show` that other programs wrote: neither the kernel's three nor ours. */
export function foreignRules(shown: string): readonly string[] {
  return shown
    .split('\n')
    .map((line) => line.trim().replaceAll(/\s+/g, ' '))
    .filter((line) => {
      const preference = Number.parseInt(line, 10)
      if (Number.isNaN(preference) || isOwn(preference)) return false
      return ![0, 32_766, 32_767].includes(preference) && !/l3mdev|^\d+: from \S+ lookup main$/.test(line)
    })
}

function preferencesOf(shown: string): readonly number[] {
  return shown.split('\n').flatMap((line) => {
    const preference = Number.parseInt(line, 10)
    return Number.isNaN(preference) ? [] : [preference]
  })
}

function isOwn(preference: number): boolean {
  return preference >= FIRST_PREFERENCE && preference < FIRST_PREFERENCE + PREFERENCES
}
