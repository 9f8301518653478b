/** Finds files that hold a network's secrets and that other users of this machine may read. */
import { statSync } from 'node:fs'
import { shellWord } from '../log/shell-word.ts'
import type { Settings } from '../settings/options.ts'

/** Permissions of anyone but the owner. */
const OTHERS = 0o077

/**
 * The file of `--token-file` or `--config`, where its mode lets others than its owner at it; whoever has it can join.
 * Undefined for pipes and descriptors (`/dev/fd/63`, made by the shell's `<(...)`), which have no lasting mode, and
 * on Windows, which has no modes.
 */
export function findExposedFile({ tokenFile, config }: Settings): string | undefined {
  const file = tokenFile ?? config
  if (file === undefined || process.platform === 'win32') return undefined
  try {
    const stat = statSync(file)
    return stat.isFile() && (stat.mode & OTHERS) !== 0 ? file : undefined
  } catch {
    // who reads it says what is wrong
    return undefined
  }
}

/** For people: which file, why it matters, and what to type. */
export function describeExposedFile(file: string): string {
  return `other users of this machine may read ${file}, and whoever has it can join the network: chmod 600 ${shellWord(file)}`
}
