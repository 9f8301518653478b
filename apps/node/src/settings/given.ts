/** Reads what was given: flags, environment variables and the lines of a file of defaults. */
import { parseArgs } from 'node:util'
import { findNearest, type Issue } from '@mesh/core'
import { explainEdgevpnFlag } from './edgevpn/flags.ts'
import { flagOf, type OptionName, optionNames, optionOf, optionsOf, variableOf } from './options.ts'
import { badInput, type Given } from './resolve-settings.ts'

export interface GivenArguments {
  /** The options in the order in which they were given. */
  readonly given: readonly Given[]
  readonly positionals: readonly string[]
  readonly help: boolean
  readonly version: boolean
}

const byFlag = new Map(optionNames.map((name) => [flagOf(name), name]))
const byShort = new Map(
  optionNames.flatMap((name) => {
    const { short } = optionOf(name)
    return short === undefined ? [] : [[short, name] as const]
  }),
)

/**
 * @param command its name; the flags of other commands are refused
 * @throws MeshError `node.bad_input` naming what is unknown, with the nearest name
 */
export function readArguments(command: string, args: readonly string[]): GivenArguments {
  const tokens = tokenize(args)
  const known = new Set(optionsOf(command))
  const given: Given[] = []
  const issues: Issue[] = []
  const positionals: string[] = []
  let [help, version] = [false, false]
  for (const token of tokens) {
    if (token.kind === 'positional') positionals.push(token.value)
    if (token.kind !== 'option') continue
    const place = token.rawName
    if (['--help', '-h'].includes(place)) help = true
    else if (['--version', '-v'].includes(place)) version = true
    else {
      const { name, negated } = findFlag(place)
      if (name === undefined || !known.has(name)) issues.push(unknownFlag(command, place, name))
      else {
        const outcome = readValue(name, place, negated, token)
        if ('texts' in outcome) given.push({ name, level: 'flag', place, texts: outcome.texts })
        else issues.push({ field: place, expected: outcome.expected })
      }
    }
  }
  if (issues.length > 0 && !help) throw badInput(issues, command)
  return { given, positionals, help, version }
}

/** @throws MeshError `node.bad_input` for a variable that is one of ours misspelt */
export function readEnvironment(environment: Readonly<Record<string, string | undefined>>): readonly Given[] {
  const given: Given[] = []
  const variables = new Map(optionNames.map((name) => [variableOf(name), name]))
  const names = [...variables.keys()].filter((name) => name !== undefined)
  for (const [variable, text] of Object.entries(environment)) {
    if (text === undefined || text === '' || !/^MESH[A-Z0-9]+$/.test(variable)) continue
    const name = variables.get(variable)
    if (name !== undefined) given.push({ name, texts: [text], level: 'environment', place: variable })
    else {
      const nearest = findNearest(variable, names)
      // what resembles none of ours may belong to another program
      if (nearest !== undefined) {
        throw badInput([{ field: variable, expected: `unknown variable; did you mean ${nearest}?` }])
      }
    }
  }
  return given
}

/** @throws MeshError `node.bad_input` with the number of the wrong line */
export function readDefaults(file: string, content: string): readonly Given[] {
  const given: Given[] = []
  for (const [at, raw] of content.split(/\r?\n/).entries()) {
    const line = raw.trim()
    if (line === '' || line.startsWith('#')) continue
    const place = `${file}:${at + 1}`
    const [, flag = '', text] = /^([^\s=]+)(?:\s*=\s*(.*))?$/.exec(line) ?? []
    const name = byFlag.get(flag)
    if (name === undefined || variableOf(name) === undefined || name === 'defaults') {
      const nearest = findNearest(flag, byFlag.keys())
      const meant =
        nearest === undefined ? 'lines look like `listen = 127.0.0.1:8080`' : `did you mean ${nearest}?`
      throw badInput([{ field: place, expected: `unknown option "${flag || line.slice(0, 40)}"; ${meant}` }])
    }
    if (text === undefined && optionOf(name).placeholder !== undefined) {
      throw badInput([
        { field: place, expected: `${flag} needs a value: ${flag} = ${optionOf(name).placeholder}` },
      ])
    }
    given.push({ name, texts: [text ?? 'true'], level: 'file', place })
  }
  return given
}

type Token = NonNullable<ReturnType<typeof parseArgs>['tokens']>[number]
type OptionToken = Extract<Token, { kind: 'option' }>

function tokenize(args: readonly string[]): readonly Token[] {
  const parse: Record<string, { type: 'string' | 'boolean'; short?: string }> = {}
  for (const name of optionNames) {
    const { placeholder, short } = optionOf(name)
    parse[flagOf(name)] = {
      type: placeholder === undefined ? 'boolean' : 'string',
      ...(short === undefined ? {} : { short }),
    }
  }
  const parsed = parseArgs({
    args: [...args],
    options: parse,
    strict: false,
    allowPositionals: true,
    tokens: true,
  })
  return parsed.tokens
}

function findFlag(place: string): { readonly name: OptionName | undefined; readonly negated: boolean } {
  if (!place.startsWith('--')) return { name: byShort.get(place.slice(1)), negated: false }
  const flag = place.slice(2)
  const positive = flag.startsWith('no-') ? byFlag.get(flag.slice(3)) : undefined
  if (positive !== undefined && optionOf(positive).placeholder === undefined) {
    return { name: positive, negated: true }
  }
  return { name: byFlag.get(flag), negated: false }
}

function readValue(
  name: OptionName,
  place: string,
  negated: boolean,
  token: OptionToken,
): { readonly texts: readonly string[] } | { readonly expected: string } {
  const { placeholder } = optionOf(name)
  if (negated) {
    return token.value === undefined ? { texts: ['false'] } : { expected: 'takes no value' }
  }
  if (placeholder === undefined) return { texts: [token.value ?? 'true'] }
  if (token.value === undefined) return { expected: `needs a value: ${place} ${placeholder}` }
  if (!token.inlineValue && /^-./.test(token.value)) {
    return {
      expected: `needs a value: ${place} ${placeholder} (write ${place}=${placeholder} for one that begins with -)`,
    }
  }
  return { texts: [token.value] }
}

/** How many of the commands that take an option are named where it was given to another. */
const MAX_COMMANDS_NAMED = 3

function unknownFlag(command: string, place: string, name: OptionName | undefined): Issue {
  const own = command === '' ? '`mesh`' : `\`mesh ${command}\``
  if (name !== undefined) {
    const takers = optionOf(name).commands.map((taker) => (taker === '' ? '`mesh`' : `\`mesh ${taker}\``))
    const named = takers.slice(0, MAX_COMMANDS_NAMED).join(', ')
    const more = takers.length > MAX_COMMANDS_NAMED ? ` and ${takers.length - MAX_COMMANDS_NAMED} others` : ''
    return { field: place, expected: `not an option of ${own} but of ${named}${more}` }
  }
  const foreign = explainEdgevpnFlag(place.replace(/^-+/, ''))
  if (foreign !== undefined) return { field: place, expected: foreign }
  const nearest = findNearest(place.replace(/^-+(no-)?/, ''), [
    ...optionsOf(command).map((each) => flagOf(each)),
    'help',
    'version',
  ])
  return {
    field: place,
    expected:
      nearest === undefined ? `unknown option of ${own}` : `unknown option; did you mean --${nearest}?`,
  }
}
