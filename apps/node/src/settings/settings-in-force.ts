/** The settings in force for people: the value of each, where it came from, and for a default why it is what it is. */
import { existsSync } from 'node:fs'
import type { SettingView } from '@mesh/api-contract'
import { defaultsFile, type Surroundings } from './load-settings.ts'
import { shownValue } from './mask.ts'
import { flagOf, type OptionName, optionsOf, optionOf, type Settings } from './options.ts'
import type { Level, ResolvedSettings } from './resolved-settings.ts'

/** The place where each setting was given, and the surroundings of the command. */
export interface SettingsOrigin extends Pick<ResolvedSettings, 'sources'> {
  /** The words that follow `mesh`: its options are told. */
  readonly command: string
  readonly surroundings: Surroundings
  readonly isErrorTerminal: boolean
}

export interface InForceInit extends SettingsOrigin, ResolvedSettings {
  /** The folder that holds every network's state. */
  readonly stateDir: string
  /** The folder of this instance; undefined where no network is named. */
  readonly folder: string | undefined
}

export interface SettingInForce {
  readonly option: OptionName
  /** Secrets are masked; undefined: there is no value. */
  readonly value: string | undefined
  /** The words for what holds where there is no value, or empty. */
  readonly instead: string
  /** The value for programs; secrets are masked. */
  readonly json: Settings[OptionName] | null
  readonly level: Level
  /** Where it was given; for a default why it is what it is, or null. */
  readonly place: string | null
  /** When it counts, where that is not always; or empty. */
  readonly condition: string
}

/** Tells the options of the command in the order of the help. */
export function settingsInForce(init: InForceInit): readonly SettingInForce[] {
  return optionsOf(init.command).map((option) => settingOf(option, init))
}

export function settingViews(init: InForceInit): readonly SettingView[] {
  return settingsInForce(init).map(({ option, value, instead, level, place, condition }) => ({
    Name: flagOf(option),
    Group: optionOf(option).group,
    Summary: optionOf(option).help,
    Value: value ?? '',
    Source: level,
    Place: [place ?? '', value === undefined ? instead : '', condition]
      .filter((part) => part !== '')
      .join('; '),
  }))
}

function settingOf(option: OptionName, init: InForceInit): SettingInForce {
  const { level, place } = init.sources[option]
  const found = level === 'default' ? defaultInForce(option, init) : undefined
  const value = found?.value ?? init.settings[option]
  const isNothing = value === undefined || (Array.isArray(value) && value.length === 0)
  const shown = isNothing ? undefined : shownValue(option, value)
  return {
    option,
    value: shown,
    instead: found === undefined && level === 'default' ? optionOf(option).defaultText : '',
    json: optionOf(option).secret === true && shown !== undefined ? shown : (value ?? null),
    level,
    place: (place === '' ? found?.reason : place) ?? null,
    condition: conditionOf(option, init),
  }
}

interface DefaultInForce {
  /** Undefined: the value of the settings. */
  readonly value: string | undefined
  readonly reason: string
}

/** Defaults that come from the surroundings, or are made from other settings. */
function defaultInForce(
  option: OptionName,
  { settings, surroundings, isErrorTerminal, stateDir, folder }: InForceInit,
): DefaultInForce | undefined {
  const reason = optionOf(option).defaultText
  if (option === 'stateDir') return { value: stateDir, reason }
  if (option === 'ledgerState') {
    if (settings.ephemeral) return { value: undefined, reason: 'nothing is kept with --ephemeral' }
    if (settings.ownership === 'off')
      return { value: undefined, reason: 'the ledger is not kept with --ownership off' }
    return { value: folder, reason }
  }
  if (option === 'instance' && settings.ephemeral) {
    return { value: settings.instance, reason: 'one for each process with --ephemeral' }
  }
  if (option === 'defaults') {
    const file = defaultsFile(surroundings.environment)
    const isThere = existsSync(file)
    return { value: isThere ? file : undefined, reason: `${file} ${isThere ? 'exists' : 'does not exist'}` }
  }
  if (option === 'logFormat') {
    const [format, place] = isErrorTerminal ? ['human', 'a terminal'] : ['json', 'no terminal']
    return { value: format, reason: `auto: standard error is ${place}` }
  }
  if (option === 'alivenessHealthcheckInterval') return { value: undefined, reason }
  return undefined
}

/** Adds a remark for options that count for some of the commands only, or with another one. */
function conditionOf(option: OptionName, { settings, command }: InForceInit): string {
  if (option === 'keyOtpInterval') return 'only with -g'
  if (command === 'api') return ''
  if (option === 'listen') return 'for `mesh api`'
  if (settings.api) return ''
  if (option === 'apiListen') return 'only with --api'
  return option === 'apiAllowedHost' || option === 'apiCors' ? 'for `mesh api`, or with --api' : ''
}
