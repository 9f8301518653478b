/** Every option, once: docs/flags.md, `--help`, completion, the environment and `mesh config` come from here. */
import {
  clientOptions,
  generateOptions,
  nameOptions,
  networkOptions,
  outputOptions,
  stateOptions,
} from './common-options.ts'
import { dnsOptions } from './dns-options.ts'
import {
  apiOptions,
  discoveryOptions,
  ledgerOptions,
  limitOptions,
  relayOptions,
  transportOptions,
} from './node-options.ts'
import type { Option } from './option.ts'
import { serviceOptions } from './service-options.ts'
import { trustOptions } from './trust-options.ts'
import { vpnOptions } from './vpn-options.ts'

const options = {
  ...generateOptions,
  ...networkOptions,
  ...nameOptions,
  ...stateOptions,
  ...vpnOptions,
  ...serviceOptions,
  ...apiOptions,
  ...dnsOptions,
  ...discoveryOptions,
  ...transportOptions,
  ...relayOptions,
  ...ledgerOptions,
  ...trustOptions,
  ...limitOptions,
  ...clientOptions,
  ...outputOptions,
} as const

/** An option's name in code: `apiAllowedHost`. */
export type OptionName = keyof typeof options

/** The value of every option. */
export type Settings = { readonly [Name in OptionName]: (typeof options)[Name]['default'] }

export const optionNames = Object.keys(options) as readonly OptionName[]

export function optionOf(name: OptionName): Option<Settings[OptionName]> {
  return options[name]
}

/** Gives `api-allowed-host` for `apiAllowedHost`. */
export function flagOf(name: OptionName): string {
  return name.replaceAll(/[A-Z]/g, (letter) => `-${letter.toLowerCase()}`)
}

/** `MESHAPIALLOWEDHOST` of `apiAllowedHost`; undefined for what is given on the command line only. */
export function variableOf(name: OptionName): string | undefined {
  return optionOf(name).environment === false ? undefined : `MESH${name.toUpperCase()}`
}

/** The options that a command takes, in the order of the table. */
export function optionsOf(command: string): readonly OptionName[] {
  return optionNames.filter((name) => optionOf(name).commands.includes(command))
}
