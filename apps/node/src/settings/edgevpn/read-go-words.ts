/** Reads a command line as Go programs read theirs: `-flag X`, `--flag=X`, switches that never take the next word. */
import { flagOf, optionNames, optionOf } from '../options.ts'
import { type EdgevpnFlag, edgevpnFlags } from './flags.ts'

export interface GoWords {
  /** The values of each flag of EdgeVPN, in their order. */
  readonly given: ReadonlyMap<string, readonly string[]>
  /** Flags of this program, with their values, as they were given. */
  readonly others: readonly string[]
  readonly positionals: readonly string[]
}

const SWITCHES: ReadonlySet<string> = new Set([
  'help',
  'h',
  'version',
  'v',
  'gb',
  'bg',
  ...optionNames.filter((name) => optionOf(name).placeholder === undefined).map(flagOf),
])

export function readGoWords(words: readonly string[]): GoWords {
  const given = new Map<string, readonly string[]>()
  const others: string[] = []
  const positionals: string[] = []
  for (let at = 0; at < words.length; at++) {
    const word = words[at] ?? ''
    if (!/^-./.test(word)) {
      positionals.push(word)
      continue
    }
    const [, flag = '', inline] = /^--?([^=]+)(?:=(.*))?$/s.exec(word) ?? []
    const takes = takesOf(flag)
    const value = inline ?? (takes === 'value' ? words[++at] : undefined)
    if (isEdgevpnFlag(flag)) given.set(flag, [...(given.get(flag) ?? []), value ?? 'true'])
    else others.push(word, ...(inline === undefined && value !== undefined ? [value] : []))
  }
  return { given, others, positionals }
}

function takesOf(flag: string): 'switch' | 'value' {
  const row = find(flag)
  if (row !== undefined) return row.takes === 'switch' ? 'switch' : 'value'
  return SWITCHES.has(flag) || flag.startsWith('no-') ? 'switch' : 'value'
}

function isEdgevpnFlag(flag: string): boolean {
  return find(flag) !== undefined
}

function find(flag: string): EdgevpnFlag | undefined {
  return edgevpnFlags.find((row) => row.flag === flag)
}
