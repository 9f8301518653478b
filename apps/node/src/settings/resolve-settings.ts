/**
 * Resolves which values are in force, and where each came from. A flag beats the environment, which beats the
 * file of defaults, which beats what is built in.
 */
import { type Issue, MeshError } from '@mesh/core'
import { findContradictions } from './contradictions.ts'
import { deriveDefaults } from './derived-defaults.ts'
import { shownText } from './mask.ts'
import { flagOf, type OptionName, optionNames, optionOf, optionsOf } from './options.ts'
import type { Level, ResolvedSettings, Source } from './resolved-settings.ts'

/** One option as it was given somewhere; nothing is checked yet. */
export interface Given {
  readonly name: OptionName
  readonly texts: readonly string[]
  readonly level: Level
  /** The place in words: `--listen`, `MESHLISTEN`, `/etc/mesh/defaults:3`. */
  readonly place: string
}

const LEVELS: readonly Level[] = ['flag', 'environment', 'file']
/** Three ways to name one network: a higher level's beats every lower one's. */
const NETWORK: readonly OptionName[] = ['config', 'token', 'tokenFile']
const BUILT_IN: Source = { level: 'default', place: '' }

/**
 * @param given everything that was given, any order; options that the command does not take are left out
 * @param base folder that relative paths count from
 * @throws MeshError `node.bad_input` naming every value that is wrong or contradicts another
 */
export function resolveSettings(command: string, given: readonly Given[], base: string): ResolvedSettings {
  const taken = new Set(optionsOf(command))
  const winners = pickWinners(given.filter(({ name }) => taken.has(name)))
  const issues: Issue[] = []
  const settings: Record<string, unknown> = {}
  const sources: Partial<Record<OptionName, Source>> = {}
  for (const name of optionNames) {
    const winner = winners.get(name)
    settings[name] = optionOf(name).default
    sources[name] = winner ?? BUILT_IN
    if (winner === undefined) continue
    const parsed = optionOf(name).parse(winner.texts, base)
    if ('value' in parsed) settings[name] = parsed.value
    else {
      issues.push({
        field: winner.place,
        value: shownText(name, winner.texts.join(',')),
        expected: parsed.expected,
      })
    }
  }
  const resolved = { settings, sources } as unknown as ResolvedSettings
  if (issues.length === 0) issues.push(...findContradictions(command, resolved))
  if (issues.length > 0) throw badInput(issues, command)
  return deriveDefaults(resolved)
}

/** One error for all that is wrong with the input. */
export function badInput(issues: readonly Issue[], command?: string): MeshError {
  const [first] = issues
  const message =
    issues.length === 1 && first !== undefined ? describeIssue(first) : `${issues.length} options are wrong`
  return new MeshError('node.bad_input', message, {
    ...(issues.length > 1 ? { issues } : {}),
    ...(command === undefined
      ? {}
      : { hint: `\`mesh help ${command === '' ? '--all' : command}\` shows every option.` }),
  })
}

export function describeIssue({ field, value, expected }: Issue): string {
  return value === undefined ? `${field}: ${expected}` : `${field}: expected ${expected}, got "${value}"`
}

/**
 * Gives for each option the highest level that gives it; of the three network options, only the highest
 * level's.
 */
function pickWinners(given: readonly Given[]): Map<OptionName, Given> {
  const winners = new Map<OptionName, Given>()
  for (const level of LEVELS.toReversed()) {
    const here = given.filter((each) => each.level === level)
    refuseSecondNetwork(here)
    if (here.some(({ name }) => NETWORK.includes(name))) for (const name of NETWORK) winners.delete(name)
    for (const each of here) {
      const before = winners.get(each.name)
      const repeats = before?.level === level && optionOf(each.name).repeated
      winners.set(each.name, repeats ? { ...each, texts: [...before.texts, ...each.texts] } : each)
    }
  }
  return winners
}

function refuseSecondNetwork(given: readonly Given[]): void {
  const places = given.filter(({ name }) => NETWORK.includes(name)).map(({ place }) => place)
  const [first, second] = new Set(places)
  if (first === undefined || second === undefined) return
  throw new MeshError('node.network_twice', `${first} and ${second} both name a network`, {
    hint: `Give one of ${NETWORK.map((name) => `--${flagOf(name)}`).join(', ')}.`,
  })
}
