/** `mesh config`: what is in force, where each value came from, and for a default why it is what it is. */
import { existsSync } from 'node:fs'
import { shownValue } from '../settings/mask.ts'
import { flagOf, type OptionName, optionsOf, optionOf, type Settings } from '../settings/options.ts'
import { defaultsFile, stateFolder } from '../settings/load-settings.ts'
import { instancePath } from '../state/instance-folder.ts'
import { readNetwork } from '../state/network.ts'
import type { Call, Run } from './command.ts'
import { formatTable } from './format-table.ts'

/** Options of `mesh config` itself. */
const OWN_OPTIONS = new Set(['json'])

export const runConfig: Run = async (call) => {
  const { command, settings, out } = call
  const network = readNetwork(settings)
  const stateDir = stateFolder(settings, call.surroundings)
  const folder =
    network === undefined
      ? undefined
      : instancePath({ stateDir, networkId: network.id, instance: settings.instance })
  const rows = optionsOf(command.name)
    .filter((name) => !OWN_OPTIONS.has(name))
    .map((name) => rowOf(name, call, folder))
  if (settings.json) {
    const options = rows.map(({ name, json, level, place }) => ({ name, value: json, source: level, place }))
    out(
      `${JSON.stringify({ network: network?.id ?? null, folder: folder ?? null, options }, undefined, 2)}\n`,
    )
    return 0
  }
  out(`network  ${network?.id ?? 'none is named'}\n`)
  if (folder !== undefined) out(`folder   ${folder}\n`)
  const table = rows.map(({ name, shown, level, place, condition }) => [
    `--${name}`,
    shown,
    [...(level === 'default' ? ['built in'] : []), place ?? '', condition]
      .filter((part) => part !== '')
      .join('; '),
  ])
  out(`\n${formatTable(['OPTION', 'VALUE', 'FROM'], table)}`)
  return 0
}

/** One option as it is in force. */
interface Row {
  /** The flag without its dashes. */
  readonly name: string
  readonly shown: string
  readonly json: Settings[OptionName] | null
  readonly level: string
  /** Where it was given; for a default why it is what it is, or null. */
  readonly place: string | null
  /** When it counts, where that is not always; or empty. */
  readonly condition: string
}

function rowOf(name: OptionName, call: Call, folder: string | undefined): Row {
  const { settings, sources } = call
  const option = optionOf(name)
  const { level, place } = sources[name]
  const found = level === 'default' ? defaultInForce(name, call, folder) : undefined
  const value = found?.value ?? settings[name]
  const isNothing = value === undefined || (Array.isArray(value) && value.length === 0)
  const shown = isNothing ? emptyWords(name, level) : shownValue(name, value)
  const reason = place === '' ? found?.reason : place
  return {
    name: flagOf(name),
    shown,
    json: option.secret === true && value !== undefined ? shown : (value ?? null),
    level,
    place: reason ?? null,
    condition: conditionOf(name, call),
  }
}

/** Says what holds in place of a value that is not there. */
function emptyWords(name: OptionName, level: string): string {
  const { defaultText } = optionOf(name)
  const isText = level === 'default' && defaultText !== '' && !['ledgerState', 'defaults'].includes(name)
  return isText ? defaultText : 'none'
}

interface DefaultInForce {
  readonly value: string | undefined
  readonly reason: string
}

/** Defaults that come from the surroundings, or are made from other settings. */
function defaultInForce(
  name: OptionName,
  { settings, surroundings, isErrorTerminal }: Call,
  folder: string | undefined,
): DefaultInForce | undefined {
  if (name === 'stateDir') {
    return { value: stateFolder(settings, surroundings), reason: optionOf(name).defaultText }
  }
  if (name === 'ledgerState') {
    if (settings.ephemeral) return { value: undefined, reason: 'nothing is kept with --ephemeral' }
    if (settings.ownership === 'off')
      return { value: undefined, reason: 'the ledger is not kept with --ownership off' }
    return { value: folder, reason: optionOf(name).defaultText }
  }
  if (name === 'instance' && settings.ephemeral) {
    return { value: 'ephemeral-PID', reason: 'one for each process with --ephemeral' }
  }
  if (name === 'defaults') {
    const file = defaultsFile(surroundings.environment)
    const isThere = existsSync(file)
    return { value: isThere ? file : undefined, reason: `${file} ${isThere ? 'exists' : 'does not exist'}` }
  }
  if (name === 'logFormat') {
    const [format, place] = isErrorTerminal ? ['human', 'a terminal'] : ['json', 'no terminal']
    return { value: format, reason: `auto: standard error is ${place}` }
  }
  if (name === 'alivenessHealthcheckInterval') return { value: undefined, reason: optionOf(name).defaultText }
  return undefined
}

/** Adds a remark for options that count for some of the commands only, or with another one. */
function conditionOf(name: OptionName, { settings }: Call): string {
  if (name === 'listen') return 'for `mesh api`'
  const isForApi = name === 'apiListen' || name === 'apiAllowedHost' || name === 'apiCors'
  if (isForApi && !settings.api)
    return name === 'apiListen' ? 'only with --api' : 'for `mesh api`, or with --api'
  return name === 'keyOtpInterval' ? 'only with -g' : ''
}
